/// Runs every case of the contract against every kind of context: a test case each, and a suite for each kind.
#include "contract/contract.hpp"
#include "contract/resident_files_backend.hpp"

#include <berth/process_context.hpp>

#include "host/process_backend.hpp"
#include "support/async.hpp"
#include "support/temp_dir.hpp"

#include <cstdlib>
#include <map>

namespace berth::contract {
namespace {

/// `name` is that of its suite too; ./dev runs each as contract-NAME (meson.build has them).
struct place_kind {
  const char* name;
  context (*make)(asio::io_context& io, std::string cwd);
  bool sandboxed = false;
  bool only_files = false;  ///< the rest of it is that of another kind
};

struct contract_run {
  const place_kind* kind;
  const contract_case* what;
};

asio::io_context* current_io = nullptr;
const place_kind* current_kind = nullptr;

process_context_options settings(std::string cwd) {
  process_context_options options;
  options.cwd = std::move(cwd);
  options.env.emplace_back("BERTH_CONTRACT", "set by the context");
  options.unset_env.emplace_back("BERTH_CONTRACT_UNWANTED");
  return options;
}

context make_host(asio::io_context& io, std::string cwd) { return make_process_context(io, settings(std::move(cwd))); }

context make_framed(asio::io_context& io, std::string cwd) {
  return {io.get_executor(),
          make_process_backend(io.get_executor(), settings(std::move(cwd)), resident_transport::framed)};
}

context with_resident_files(asio::io_context& io, std::string cwd, resident_transport transport) {
  return {io.get_executor(), std::make_shared<resident_files_backend>(
                                 make_process_backend(io.get_executor(), settings(std::move(cwd)), transport))};
}

context make_resident_files(asio::io_context& io, std::string cwd) {
  return with_resident_files(io, std::move(cwd), resident_transport::handed);
}

context make_framed_resident_files(asio::io_context& io, std::string cwd) {
  return with_resident_files(io, std::move(cwd), resident_transport::framed);
}

context isolated(asio::io_context& io, std::string cwd, access_rule network) {
  process_context_options options = settings(std::move(cwd));
  // So that they are seen where the build lies below /tmp or /var/tmp.
  options.isolation = isolation_settings().network(network).writable_roots({BERTH_TEST_PROGRAMS});
  return make_process_context(io, std::move(options));
}

context make_isolated(asio::io_context& io, std::string cwd) { return isolated(io, std::move(cwd), access_rule::deny); }

context make_online(asio::io_context& io, std::string cwd) { return isolated(io, std::move(cwd), access_rule::allow); }

constexpr place_kind kinds[] = {
    {"process", make_host},
    {"framed", make_framed},
    {"isolated", make_isolated, true},
    {"online", make_online, true},
    {"resident-files", make_resident_files, false, true},
    {"framed-resident-files", make_framed_resident_files, false, true},
};

using case_list = std::span<const contract_case> (*)();

constexpr case_list lists[] = {
    output_cases,
    volume_cases,
    input_cases,
    surroundings_cases,
    end_cases,
    deadline_cases,
    cancel_cases,
    tree_cases,
    leftover_cases,
    handle_cases,
    hanging_cases,
    limit_cases,
    port_cases,
    background_cases,
    background_life_cases,
    terminal_cases,
    terminal_command_cases,
    background_port_cases,
};

constexpr case_list file_lists[] = {
    file_cases,
    file_tree_cases,
    transfer_cases,
};

task<void> run_case(asio::io_context& io, contract_run run) {
  temp_dir directory;
  context place = run.kind->make(io, directory.path().string());
  const handle where = co_await place.spawn();
  co_await run.what->run(place, where);
  for (const handle& left : place.handles()) co_await place.destroy(left);
}

std::map<std::string, contract_run>& runs() {
  static std::map<std::string, contract_run> all;
  return all;
}

/// What doctest calls for each test case: the name says which.
void run_current() {
  const contract_run run = runs().at(doctest::getContextOptions()->currentTest->m_name);
  const async_body body = [run](asio::io_context& io) {
    current_io = &io;
    current_kind = run.kind;
    return run_case(io, run);
  };
  setenv("BERTH_CONTRACT_UNWANTED", "set by the caller", 1);
  run_async(body, run.what->limit);
}

void add(const place_kind& kind, std::span<const contract_case> cases) {
  for (const contract_case& what : cases) {
    const std::string name = std::string(kind.name) + ": " + what.sentence;
    const auto [at, fresh] = runs().emplace(name, contract_run{&kind, &what});
    if (!fresh) throw std::logic_error("two cases of one name: " + name);
    doctest::detail::TestCase test(run_current, __FILE__, __LINE__, doctest::detail::TestSuite() * kind.name);
    doctest::detail::regTest(test * at->first.c_str());
  }
}

int add_all() {
  for (const place_kind& kind : kinds) {
    for (const case_list list : file_lists) add(kind, list());
    if (kind.only_files) continue;
    for (const case_list list : lists) add(kind, list());
  }
  return 0;
}

[[maybe_unused]] const int added = add_all();

TEST_CASE("every kind of context has a runner" * doctest::test_suite("kill")) {
  const std::string runners = read_whole_file(BERTH_TEST_PROGRAMS "/../runners");
  for (const place_kind& kind : kinds) {
    const std::string name = std::string("contract-") + kind.name + " ";
    CHECK_MESSAGE(runners.find(name) != runners.npos, name);
  }
}

}  // namespace

cgroup_place whole_limits() {
  if (!current_kind->sandboxed) return find_cgroup_place();
  cgroup_place none;
  none.why_not = "a sandbox has no cgroups";
  return none;
}

std::unique_ptr<context> another_context(context&) {
  return std::make_unique<context>(current_kind->make(*current_io, {}));
}

}  // namespace berth::contract
