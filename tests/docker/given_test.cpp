/// Containers that run already, with a resident as their guest.
#include "core/task_group.hpp"
#include "docker/container_exec.hpp"
#include "docker/given_container.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <berth/context.hpp>
#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <asio/io_context.hpp>

#include <sys/wait.h>
#include <unistd.h>
#include <algorithm>
#include <csignal>
#include <filesystem>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

task<std::shared_ptr<docker_engine>> engine_of(asio::io_context& io, std::vector<daemon_address> daemon) {
  return docker_engine::connect(io.get_executor(), std::move(daemon));
}

/// Only its own two processes are left: the init and what it was started with.
task<bool> is_as_before(container box) {
  for (int i = 0; i < 100; ++i) {
    const std::vector<std::string> lines = co_await processes_of(box);
    if (lines.size() == 2) co_return true;
    co_await pause_for(100ms);
  }
  co_return false;
}

task<void> try_given(context& place, container box) {
  const handle where = co_await place.spawn();
  const exec_result result = co_await place.exec(where, command("pwd; echo err >&2; exit 3"));
  CHECK(result.std_out == where.cwd() + "\n");
  CHECK(result.std_err == "err\n");
  CHECK(result.status.code() == 3);
  co_await place.write_file(where, "/tmp/sub", "bytes");
  const std::string read = co_await place.read_file(where, "/tmp/sub");
  CHECK(read == "bytes");
  const exec_result left = co_await place.exec(where, command("ls -a / /tmp; setsid sleep 1001 & exit 0"));
  CHECK(left.std_out.find(".berth") == std::string::npos);
  co_await place.destroy(where);
  CHECK(co_await is_as_before(box));
  const auto state = co_await box.state();
  CHECK(state->running);
}

std::string refusal_of(const error& failure, errc code) {
  CHECK(failure.code() == code);
  return failure.message();
}

task<std::string> spawn_refusal(context& place, errc code) {
  try {
    co_await place.spawn();
  } catch (const error& failure) {
    co_return refusal_of(failure, code);
  }
  co_return "spawned";
}

}  // namespace

DOCKER_TEST("given container: commands and files; it stays, and nothing in it does") {
  const auto engine = co_await engine_of(io, daemon);
  given_spec spec;
  spec.cwd = "/home/user";
  const container box = co_await run_given(engine, std::move(spec));
  docker_context place = context_in(io, daemon, box);
  co_await try_given(place, box);
  const handle where = co_await place.spawn();
  CHECK(where.cwd() == "/home/user");
  CHECK(place.container_id(where) == box.id());
  co_await box.remove();
}

DOCKER_TEST("given container: as user 1000, who cannot remove what root has put there") {
  const auto engine = co_await engine_of(io, daemon);
  given_spec spec;
  spec.image = "test/debian:1";
  spec.argv = {"sleep", "1000"};
  spec.user = "1000";
  const container box = co_await run_given(engine, std::move(spec));
  docker_context place = context_in(io, daemon, box);
  co_await try_given(place, box);
  const handle where = co_await place.spawn();
  const exec_result who = co_await place.exec(where, command("id -u"));
  CHECK(who.std_out == "1000\n");
  co_await place.destroy(where);
  co_await box.remove();
}

DOCKER_TEST("given container: several handles, each with its own processes, directory and environment") {
  const auto engine = co_await engine_of(io, daemon);
  const container box = co_await run_given(engine, given_spec());
  docker_context place = context_in(io, daemon, box);
  const handle one = co_await place.spawn(spawn_options().cwd("/places/one").env("WHO", "one"));
  const handle two = co_await place.spawn(spawn_options().cwd("/places/two").env("WHO", "two"));
  auto sleeping = co_await place.exec_stream(one, command("sleep 1002"));
  const exec_result result = co_await place.exec(two, command("echo $WHO; pwd"));
  CHECK(result.std_out == "two\n/places/two\n");
  co_await place.destroy(two);
  const std::vector<std::string> lines = co_await processes_of(box);
  CHECK(std::find(lines.begin(), lines.end(), "sleep 1002") != lines.end());
  const exec_result other = co_await place.exec(one, command("echo $WHO"));
  CHECK(other.std_out == "one\n");
  co_await place.destroy(one);
  CHECK(co_await is_as_before(box));
  co_await box.remove();
}

DOCKER_TEST("given container: one that is missing, paused or ended is told") {
  const auto engine = co_await engine_of(io, daemon);
  const container box = co_await run_given(engine, given_spec());
  docker_context place = context_in(io, daemon, box);
  co_await engine->ask("POST", "/containers/" + box.id() + "/pause");
  CHECK((co_await spawn_refusal(place, errc::conflict)).find("is paused") != std::string::npos);
  co_await engine->ask("POST", "/containers/" + box.id() + "/unpause");
  co_await engine->ask("POST", "/containers/" + box.id() + "/stop?t=5");
  CHECK((co_await spawn_refusal(place, errc::conflict)).find("it is exited") != std::string::npos);
  co_await box.remove();
  CHECK((co_await spawn_refusal(place, errc::not_found)).find("is not with the daemon") != std::string::npos);
}

DOCKER_TEST("given container: a root that cannot be written, and a tmpfs that takes programs") {
  const auto engine = co_await engine_of(io, daemon);
  given_spec spec;
  spec.host = json::parse(R"({"ReadonlyRootfs":true,"Tmpfs":{"/tmp":"rw,exec"}})");
  const container box = co_await run_given(engine, std::move(spec));
  docker_context place = context_in(io, daemon, box, docker_runner::resident);
  co_await try_given(place, box);
  co_await box.remove();
}

DOCKER_TEST("given container: no shell, a root that cannot be written, a volume") {
  const auto engine = co_await engine_of(io, daemon);
  given_spec spec;
  spec.image = "test/scratch:1";
  spec.argv = {"/busybox", "sleep", "1000"};
  spec.user = "1000";
  spec.host = json::parse(
      R"({"ReadonlyRootfs":true,"CapDrop":["ALL"],"SecurityOpt":["no-new-privileges"],
          "Mounts":[{"Type":"volume","Target":"/data"}]})");
  const container box = co_await run_given(engine, std::move(spec));
  docker_context place = context_in(io, daemon, box, docker_runner::resident);
  const handle where = co_await place.spawn();
  const exec_result result = co_await place.exec(where, argv("/busybox", "ls", "-a", "/data"));
  CHECK(result.std_out == ".\n..\n");
  co_await place.destroy(where);
  CHECK(co_await is_as_before(box));
  co_await box.remove();
}

DOCKER_TEST("given container: where no program can be put, no resident lives, and that is told") {
  const auto engine = co_await engine_of(io, daemon);
  given_spec spec;
  spec.host = json::parse(R"({"ReadonlyRootfs":true,"Tmpfs":{"/tmp":"rw,noexec","/dev/shm":"rw,noexec"}})");
  const container box = co_await run_given(engine, std::move(spec));
  docker_context place = context_in(io, daemon, box, docker_runner::resident);
  const std::string why = co_await spawn_refusal(place, errc::unsupported);
  CHECK(why.find("no resident can live in it") != std::string::npos);
  CHECK(why.find("by a shell: no directory takes programs") != std::string::npos);
  CHECK(co_await is_as_before(box));
  co_await box.remove();
}

DOCKER_TEST("given container: neither a shell nor a directory that can be written") {
  const auto engine = co_await engine_of(io, daemon);
  given_spec spec;
  spec.image = "test/scratch:1";
  spec.argv = {"/busybox", "sleep", "1000"};
  spec.host = json::parse(R"({"ReadonlyRootfs":true})");
  const container box = co_await run_given(engine, std::move(spec));
  docker_context place = context_in(io, daemon, box, docker_runner::resident);
  const std::string why = co_await spawn_refusal(place, errc::unsupported);
  CHECK(why.find("by a shell: there is none") != std::string::npos);
  co_await box.remove();
}

DOCKER_TEST("given container: its end, and the end of its resident, are told as what they are") {
  const auto engine = co_await engine_of(io, daemon);
  const container box = co_await run_given(engine, given_spec());
  docker_context place = context_in(io, daemon, box);
  const handle one = co_await place.spawn();
  const exec_result shot = co_await place.exec(one, command("kill -9 $PPID; sleep 1003"));
  CHECK(shot.status.reason() == end_reason::lost);
  CHECK(shot.status.message() == "lost: the resident in the container ended with 137");
  co_await place.destroy(one);
  const handle two = co_await place.spawn();
  auto sleeping = co_await place.exec_stream(two, command("sleep 1004"));
  co_await box.remove();
  const exit_status end = co_await sleeping.wait();
  CHECK(end.reason() == end_reason::lost);
  const bool is_told = end.message().find("the container was removed") != std::string::npos ||
                       end.message().find("ended through its daemon (signal 9)") != std::string::npos;
  CHECK_MESSAGE(is_told, end.message());
  co_await place.destroy(two);
}

namespace {

task<void> work_for_ever(docker_context& place, int tell) {
  const handle where = co_await place.spawn();
  auto sleeping = co_await place.exec_stream(where, command("sleep 1005 & setsid sleep 1006 & sleep 1007"));
  const auto ignored = ::write(tell, "x", 1);
  (void)ignored;
  co_await sleeping.wait();
}

/// The part of another program: it works in the container until it is killed.
[[noreturn]] void own_and_wait(const std::vector<daemon_address>& daemon, const container& box,
                               std::chrono::milliseconds lease, int told) {
  asio::io_context io;
  docker_context place = context_in(io, daemon, box, docker_runner::resident, lease);
  task_group group(io.get_executor());
  group.spawn(work_for_ever(place, told));
  io.run();
  ::_exit(1);
}

/// Returns once it works.
pid_t start_owner(const std::vector<daemon_address>& daemon, const container& box, std::chrono::milliseconds lease) {
  int ends[2] = {};
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const pid_t owner = ::fork();
  if (owner == 0) own_and_wait(daemon, box, lease, ends[1]);
  ::close(ends[1]);
  char said = 0;
  CHECK(::read(ends[0], &said, 1) == 1);
  ::close(ends[0]);
  return owner;
}

void kill_owner(pid_t owner) {
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
}

}  // namespace

DOCKER_TEST("given container: an owner that is killed leaves nothing in it, long before the lease") {
  const auto engine = co_await engine_of(io, daemon);
  const container box = co_await run_given(engine, given_spec());
  const pid_t owner = start_owner(daemon, box, std::chrono::minutes(15));
  kill_owner(owner);
  CHECK(co_await is_as_before(box));
  const json changes = co_await engine->ask("GET", "/containers/" + box.id() + "/changes");
  CHECK(changes.dump().find(".berth") == std::string::npos);
  co_await box.remove();
}

DOCKER_TEST("given container: an owner that says nothing while its connection stays loses it with the lease") {
  const auto engine = co_await engine_of(io, daemon);
  const container box = co_await run_given(engine, given_spec());
  const pid_t owner = start_owner(daemon, box, 2s);
  ::kill(owner, SIGSTOP);
  CHECK(co_await is_as_before(box));
  kill_owner(owner);
  co_await box.remove();
}

DOCKER_TEST("given container: one that is paused for longer than the lease is not lost") {
  const auto engine = co_await engine_of(io, daemon);
  const container box = co_await run_given(engine, given_spec());
  docker_context place = context_in(io, daemon, box, docker_runner::resident, 1s);
  const handle where = co_await place.spawn();
  co_await engine->ask("POST", "/containers/" + box.id() + "/pause");
  co_await pause_for(3s);
  co_await engine->ask("POST", "/containers/" + box.id() + "/unpause");
  const exec_result result = co_await place.exec(where, command("echo on"));
  CHECK(result.std_out == "on\n");
  co_await pause_for(2s);
  const exec_result later = co_await place.exec(where, command("echo still"));
  CHECK(later.std_out == "still\n");
  co_await place.destroy(where);
  co_await box.remove();
}

DOCKER_TEST("docker: which ports the daemon chose can be asked for") {
  docker_context_options options;
  options.image = "test/busybox:1";
  options.host = daemon.front().url;
  options.ports = {{80, 0, "127.0.0.1"}, {8081, 0, "127.0.0.1"}};
  docker_context place = make_docker_context(io, std::move(options));
  const handle where = co_await place.spawn();
  std::vector<docker_port> ports = co_await place.published_ports(where);
  std::sort(ports.begin(), ports.end(), [](const auto& a, const auto& b) { return a.container < b.container; });
  REQUIRE(ports.size() == 2);
  CHECK(ports[0].container == 80);
  CHECK(ports[1].container == 8081);
  CHECK(ports[0].host != 0);
  CHECK(ports[0].host != ports[1].host);
  CHECK(ports[0].address == "127.0.0.1");
  co_await place.destroy(where);
  CHECK_THROWS_AS((void)place.container_id(where), error);
}

namespace {

/// A container of another user in which no resident can be placed but by its `sh`, which is this script.
task<container> run_with_shell(std::shared_ptr<docker_engine> engine, std::string script_path) {
  given_spec spec;
  spec.image = "test/debian:1";
  spec.argv = {"sleep", "1000"};
  spec.user = "1000";
  json_object host;
  host.set("ReadonlyRootfs", true);
  json_array binds;
  binds.emplace_back(script_path + ":/bin/sh:ro");
  host.set("Binds", std::move(binds));
  host.set("Tmpfs", json_object{{"/precious", "mode=755"}});
  spec.host = std::move(host);
  return run_given(std::move(engine), std::move(spec));
}

void write_script(const std::string& path, const std::string& lines) {
  write_whole_file(path, "#!/bin/bash\n" + lines);
  std::filesystem::permissions(path, std::filesystem::perms(0755));
}

}  // namespace

DOCKER_TEST("given container: what its shell says is removed only where it was asked for") {
  const auto engine = co_await engine_of(io, daemon);
  const temp_dir files;
  write_script(files / "sh", "cat >/dev/null; echo /precious\n");
  const container box = co_await run_with_shell(engine, files / "sh");
  exec_request fill;
  fill.words = {"bash", "-c", "mkdir /precious/d && echo kept >/precious/d/f"};
  fill.user = "0";
  const exec_outcome filled = co_await run_in_container(box, fill);
  CHECK(filled.code == 0);
  context place = context_in(io, daemon, box);
  const handle where = co_await place.spawn();
  const exec_result seen = co_await place.exec(where, argv("cat", "/precious/d/f"));
  CHECK(seen.std_out == "kept\n");
  co_await place.destroy(where);
  co_await box.remove();
}

DOCKER_TEST("given container: a shell that does not answer holds nobody up") {
  const auto engine = co_await engine_of(io, daemon);
  const temp_dir files;
  write_script(files / "sh", "exec sleep 1000\n");
  const container box = co_await run_with_shell(engine, files / "sh");
  context place = context_in(io, daemon, box);
  const handle where = co_await place.spawn();
  const exec_result said = co_await place.exec(where, argv("echo", "by the Engine"));
  CHECK(said.std_out == "by the Engine\n");
  co_await place.destroy(where);
  co_await box.remove();
}
