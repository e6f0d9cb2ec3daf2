/// Contexts in containers of the daemon that tests/docker/with_daemon starts.
#include "contract/places.hpp"
#include "core/task_group.hpp"
#include "docker/docker_backend.hpp"
#include "docker/given_container.hpp"
#include "docker/real_daemon.hpp"

#include "support/temp_dir.hpp"

#include <berth/docker_context.hpp>

#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>

namespace berth::contract {
namespace {

/// The directory of the case and the programs of the tests have the same names in the container.
docker_context_options settings_of(std::string image, std::string cwd) {
  docker_context_options options;
  options.image = std::move(image);
  options.host = test::variable("BERTH_TEST_DOCKER");
  if (!cwd.empty()) options.cwd = std::move(cwd);
  options.env.emplace_back("BERTH_CONTRACT", "set by the context");
  options.mounts.push_back({mount_kind::bind, case_directory(), case_directory()});
  options.mounts.push_back({mount_kind::bind, BERTH_TEST_PROGRAMS, BERTH_TEST_PROGRAMS, true});
  return options;
}

using test::why_no_daemon;

context make_docker_busybox(asio::io_context& io, std::string cwd) {
  return make_docker_context(io, settings_of("test/busybox:1", std::move(cwd)));
}

context make_docker_debian(asio::io_context& io, std::string cwd) {
  return make_docker_context(io, settings_of("test/debian:1", std::move(cwd)));
}

context make_docker_user(asio::io_context& io, std::string cwd) {
  docker_context_options options = settings_of("test/debian:1", std::move(cwd));
  options.user = "1000:1000";
  return make_docker_context(io, std::move(options));
}

context make_docker_read_only(asio::io_context& io, std::string cwd) {
  docker_context_options options = settings_of("test/debian:1", std::move(cwd));
  options.read_only = true;
  options.mounts.push_back({mount_kind::tmpfs, {}, "/tmp"});
  options.mounts.push_back({mount_kind::tmpfs, {}, "/workspace"});
  return make_docker_context(io, std::move(options));
}

context make_docker_powerless(asio::io_context& io, std::string cwd) {
  docker_context_options options = settings_of("test/debian:1", std::move(cwd));
  options.cap_drop = {"ALL"};
  options.security_opt = {"no-new-privileges"};
  return make_docker_context(io, std::move(options));
}

context make_docker_offline(asio::io_context& io, std::string cwd) {
  docker_context_options options = settings_of("test/debian:1", std::move(cwd));
  options.network = "none";
  return make_docker_context(io, std::move(options));
}

context make_docker_engine(asio::io_context& io, std::string cwd) {
  docker_context_options options = settings_of("test/debian:1", std::move(cwd));
  options.runner = docker_runner::engine;
  return make_docker_context(io, std::move(options));
}

/// As from another machine: over TCP and TLS, in frames.
context make_docker_framed(asio::io_context& io, std::string cwd) {
  ::setenv("DOCKER_TLS_VERIFY", "1", 1);
  ::setenv("DOCKER_CERT_PATH", test::variable("BERTH_TEST_CERTS").c_str(), 1);
  docker_context_options options = settings_of("test/debian:1", std::move(cwd));
  options.host = test::variable("BERTH_TEST_TLS");
  return make_docker_context(io, std::move(options));
}

std::string why_no_tls() {
  const std::string why = why_no_daemon();
  return why.empty() && test::variable("BERTH_TEST_TLS").empty() ? "no openssl" : why;
}

/// A container that runs for all cases: this program attaches to it, and did not make it as a context does. No connection stays.
class running_container {
 public:
  running_container() { run(begin(id_)); }
  ~running_container() {
    try {
      run(end(id_));
    } catch (const std::exception& failure) {
      std::printf("container %s is left: %s\n", id_.c_str(), failure.what());  // the daemon of the tests may be gone
    }
  }
  running_container(const running_container&) = delete;
  running_container& operator=(const running_container&) = delete;

  const std::string& id() const { return id_; }

 private:
  static void run(task<void> work) {
    asio::io_context io;
    task_group group(io.get_executor());
    group.spawn(std::move(work));
    io.run();
    group.throw_failure();
  }

  static task<std::shared_ptr<docker_engine>> reach() {
    const auto executor = co_await asio::this_coro::executor;
    co_return co_await docker_engine::connect(executor, test::real_daemon("given"));
  }

  static task<void> begin(std::string& id) {
    const auto engine = co_await reach();
    test::given_spec spec;
    spec.image = "test/debian:1";
    spec.argv = {"sleep", "3000"};
    json_array binds;
    const std::string directory = test::private_temporary_directory().string();
    binds.emplace_back(directory + ":" + directory);
    binds.emplace_back(BERTH_TEST_PROGRAMS ":" BERTH_TEST_PROGRAMS ":ro");
    json_object host;
    host.set("Binds", std::move(binds));
    spec.host = std::move(host);
    auto starting = test::run_given(engine, std::move(spec));
    const container box = co_await std::move(starting);
    id = box.id();
  }

  static task<void> end(std::string id) {
    const auto engine = co_await reach();
    const container box(engine, std::move(id));
    co_await box.remove();
  }

  std::string id_;
};

context make_docker_given(asio::io_context& io, std::string cwd) {
  static const running_container given;
  docker_context_options options;
  options.host = test::variable("BERTH_TEST_DOCKER");
  options.container = given.id();
  options.runner = docker_runner::resident;
  options.cwd = std::move(cwd);
  options.env.emplace_back("BERTH_CONTRACT", "set by the context");
  return make_docker_context(io, std::move(options));
}

constexpr const char* no_cgroups = "what a container has of cgroups is read-only";

/// As docs/docker-attach.md has it.
constexpr needs engine_lacks = needs::pids | needs::ended_by_signal | needs::kernel_refusals | needs::default_path |
                               needs::any_bytes | needs::leftover_output | needs::streamed_files |
                               needs::guarded_writes | needs::any_end_key | needs::first_size | needs::many_variables |
                               needs::fast_starts | needs::exact_merge;

constexpr place_kind kinds[] = {
    {"docker-busybox", make_docker_busybox, contract_scope::whole, no_cgroups, why_no_daemon},
    {"docker-debian", make_docker_debian, contract_scope::whole, no_cgroups, why_no_daemon},
    {"docker-user", make_docker_user, contract_scope::whole, no_cgroups, why_no_daemon, 1000},
    {"docker-read-only", make_docker_read_only, contract_scope::whole, no_cgroups, why_no_daemon},
    {"docker-powerless", make_docker_powerless, contract_scope::whole, no_cgroups, why_no_daemon},
    {"docker-offline", make_docker_offline, contract_scope::whole, no_cgroups, why_no_daemon},
    {"docker-given", make_docker_given, contract_scope::whole, no_cgroups, why_no_daemon},
    {"docker-engine", make_docker_engine, contract_scope::whole, no_cgroups, why_no_daemon, 0, engine_lacks, 3},
    {"docker-framed", make_docker_framed, contract_scope::whole, no_cgroups, why_no_tls},
};

}  // namespace

std::span<const place_kind> docker_kinds() { return kinds; }

}  // namespace berth::contract
