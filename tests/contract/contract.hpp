#pragma once
/// The contract: one list of cases that every context must pass. A case asks a place, through the interface alone, and looks at
/// the processes and files that it left.

#include <berth/context.hpp>
#include <berth/error.hpp>
#include <berth/task.hpp>

#include "contract/needs.hpp"
#include "os/cgroup_place.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::contract {

using namespace std::chrono_literals;
using namespace berth::test;

/// One behaviour. `where` was spawned in an empty directory of its own, and is destroyed afterwards if the case did not.
struct contract_case {
  using body = task<void> (*)(context& place, handle where);

  constexpr contract_case(const char* s, body r, std::chrono::milliseconds l, needs n = needs::nothing)
      : sentence(s), run(r), limit(l), wanted(n) {}
  constexpr contract_case(const char* s, body r, needs n = needs::nothing) : contract_case(s, r, 15s, n) {}

  const char* sentence;
  body run;
  std::chrono::milliseconds limit;
  needs wanted;  ///< where they are not met it is skipped
};

std::span<const contract_case> capability_cases();
std::span<const contract_case> output_cases();
std::span<const contract_case> volume_cases();
std::span<const contract_case> input_cases();
std::span<const contract_case> surroundings_cases();
std::span<const contract_case> end_cases();
std::span<const contract_case> deadline_cases();
std::span<const contract_case> cancel_cases();
std::span<const contract_case> tree_cases();
std::span<const contract_case> leftover_cases();
std::span<const contract_case> handle_cases();
std::span<const contract_case> hanging_cases();
std::span<const contract_case> terminal_command_cases();
std::span<const contract_case> background_cases();
std::span<const contract_case> background_life_cases();
std::span<const contract_case> background_port_cases();
std::span<const contract_case> terminal_cases();
std::span<const contract_case> limit_cases();
std::span<const contract_case> port_cases();
std::span<const contract_case> file_cases();
std::span<const contract_case> file_tree_cases();
std::span<const contract_case> transfer_cases();

/// Where the kind of context under test can make cgroups for its commands, which bound a command as a whole.
cgroup_place whole_limits();

/// Another context of the kind under test, apart from the first.
std::unique_ptr<context> another_context(context& place);

/// tests/support/child with a verb: no shell between.
template <class... Words>
command child(Words... words) {
  return argv(BERTH_TEST_PROGRAMS "/child", std::string(words)...);
}

/// The path of the child program, for shell texts.
inline std::string child_path() { return BERTH_TEST_PROGRAMS "/child"; }

/// Byte i is i % 251: what `child flood` and `child tiny` print.
bool is_pattern(std::string_view bytes, std::uint64_t offset = 0);

/// Reads the process until the text has come or the stream ended; gives all that came on standard output.
task<std::string> read_until(process& source, std::string text);

struct collected {
  std::string out;
  std::string err;
};
/// Reads the process to its end.
task<std::shared_ptr<collected>> read_all(process& source);

/// Follows a log from its beginning to its end.
task<std::string> follow_all(background from, output_stream stream);

/// Starts the exec beside the caller.
running<exec_result> start_exec(context& place, handle where, command what);

/// The numbers that processes of the place have here, from those that they have there, which are others where the place is a pid
/// namespace of its own. One that is no more becomes negative: no process has such a number. The place runs a command for it.
task<std::vector<pid_t>> pids_here(context& place, handle where, std::vector<pid_t> there);
task<pid_t> pid_here(context& place, handle where, std::int64_t there);

/// The processes in the line "pids N N N" of an output, as they are called here.
task<std::vector<pid_t>> pids_said(context& place, handle where, std::string output);

/// The same of a process that prints the line first.
task<std::vector<pid_t>> read_pids(context& place, handle where, process& source);

/// The code of the system_error that the work throws; none if it throws none.
template <class T>
task<std::error_code> failure_of(task<T> work) {
  try {
    co_await std::move(work);
  } catch (const std::system_error& failure) {
    co_return failure.code();
  }
  co_return std::error_code();
}

class stopwatch {
 public:
  std::chrono::milliseconds elapsed() const {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - began_);
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

/// How far this program's resident memory rises above what it was, in bytes.
class memory_rise {
 public:
  memory_rise();
  /// Always true under the address sanitizer, which keeps what was freed.
  bool stays_below(std::size_t bytes) const;

 private:
  std::size_t before_;
};

}  // namespace berth::contract
