/// Runs every case of the contract against every kind of context: a test case each, and a suite for each kind.
#include "contract/places.hpp"
#include "contract/contract.hpp"

#include "support/async.hpp"
#include "support/skipping.hpp"
#include "support/temp_dir.hpp"

#include <unistd.h>

#include <cstdlib>
#include <map>

namespace berth::contract {
namespace {

struct contract_run {
  const place_kind* kind;
  const contract_case* what;
};

asio::io_context* current_io = nullptr;
const place_kind* current_kind = nullptr;

std::string current_directory;

using case_list = std::span<const contract_case> (*)();

constexpr case_list lists[] = {
    capability_cases,      output_cases,       volume_cases,
    input_cases,           surroundings_cases, end_cases,
    deadline_cases,        cancel_cases,       tree_cases,
    leftover_cases,        handle_cases,       hanging_cases,
    limit_cases,           port_cases,         background_cases,
    background_life_cases, terminal_cases,     terminal_command_cases,
    background_port_cases,
};

constexpr case_list file_lists[] = {
    file_cases,
    file_tree_cases,
    transfer_cases,
};

task<void> run_case(asio::io_context& io, contract_run run) {
  temp_dir directory;
  current_directory = directory.path().string();
  if (run.kind->user != 0) REQUIRE(chown(current_directory.c_str(), run.kind->user, run.kind->user) == 0);
  context place = run.kind->make(io, current_directory);
  const handle where = co_await place.spawn();
  // What a place can may be known only now.
  const std::string missing = missing_of(run.what->wanted, place.can(), run.kind->lacks);
  if (missing.empty()) {
    co_await run.what->run(place, where);
  } else {
    skip("this place cannot: " + missing);
  }
  for (const handle& left : place.handles()) co_await place.destroy(left);
}

std::map<std::string, contract_run>& runs() {
  static std::map<std::string, contract_run> all;
  return all;
}

/// What doctest calls for each test case: the name says which.
void run_current() {
  const contract_run run = runs().at(doctest::getContextOptions()->currentTest->m_name);
  const std::string missing = run.kind->missing != nullptr ? run.kind->missing() : "";
  if (!missing.empty()) return skip(missing);
  const async_body body = [run](asio::io_context& io) {
    current_io = &io;
    current_kind = run.kind;
    return run_case(io, run);
  };
  setenv("BERTH_CONTRACT_UNWANTED", "set by the caller", 1);
  run_async(body, run.what->limit * run.kind->patience);
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

const std::vector<place_kind>& all_kinds() {
  static const std::vector<place_kind> all = [] {
    std::vector<place_kind> kinds;
    for (const auto& some : {host_kinds(), docker_kinds()}) kinds.insert(kinds.end(), some.begin(), some.end());
    return kinds;
  }();
  return all;
}

int add_all() {
  for (const place_kind& kind : all_kinds()) {
    for (const case_list list : file_lists) add(kind, list());
    if (kind.scope == contract_scope::files) continue;
    for (const case_list list : lists) add(kind, list());
  }
  return 0;
}

[[maybe_unused]] const int added = add_all();

TEST_CASE("every kind of context has a runner" * doctest::test_suite("kill")) {
  const std::string runners = read_whole_file(BERTH_TEST_PROGRAMS "/../runners");
  for (const place_kind& kind : all_kinds()) {
    const std::string name = std::string("contract-") + kind.name + " ";
    CHECK_MESSAGE(runners.find(name) != runners.npos, name);
  }
}

}  // namespace

cgroup_place whole_limits() {
  if (current_kind->without_cgroups == nullptr) return find_cgroup_place();
  cgroup_place none;
  none.why_not = current_kind->without_cgroups;
  return none;
}

const std::string& case_directory() { return current_directory; }

std::unique_ptr<context> another_context(context&) {
  return std::make_unique<context>(current_kind->make(*current_io, {}));
}

}  // namespace berth::contract
