/// Handles: made, told apart, destroyed; and what is left in the hands of the caller.
#include "contract/contract.hpp"
#include "support/proc_scan.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace berth::contract {
namespace {

bool ended_with_its_handle(const exit_status& status) {
  return status.reason() == end_reason::cancelled || status.reason() == end_reason::lost;
}

task<void> listed(context& place, handle where) {
  const handle other = co_await place.spawn();
  CHECK(other.id() != where.id());
  CHECK(place.handles().size() == 2);
  co_await place.destroy(other);
  CHECK(place.handles() == std::vector<handle>{where});
  context copy = place;
  const exec_result result = co_await copy.exec(where, "echo same");
  CHECK(result.std_out == "same\n");
  CHECK(copy.handles() == place.handles());
}

task<void> destroyed_twice(context& place, handle where) {
  co_await place.destroy(where);
  std::error_code code = co_await failure_of(place.destroy(where));
  CHECK(code == errc::destroyed);
  code = co_await failure_of(place.exec(where, "echo ran >ran"));
  CHECK(code == errc::destroyed);
  code = co_await failure_of(place.exec_stream(where, "echo ran >ran"));
  CHECK(code == errc::destroyed);
  CHECK(place.handles().empty());
  CHECK(std::filesystem::is_directory(where.cwd()));
  CHECK(std::filesystem::is_empty(where.cwd()));
}

task<void> not_its_own(context& place, handle where) {
  std::error_code code = co_await failure_of(place.exec(handle(), "true"));
  CHECK(code == errc::destroyed);
  const std::unique_ptr<context> other = another_context(place);
  code = co_await failure_of(other->exec(where, "true"));
  CHECK(code == errc::destroyed);
  code = co_await failure_of(other->destroy(where));
  CHECK(code == errc::destroyed);
  const exec_result result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
}

std::vector<pid_t> numbers_in(const std::string& path) {
  std::ifstream file(path);
  return {std::istream_iterator<pid_t>(file), std::istream_iterator<pid_t>()};
}

task<void> destroyed_while_busy(context& place, handle where) {
  std::vector<running<exec_result>> all;
  for (int i = 0; i < 100; ++i) all.push_back(start_exec(place, where, "echo $$ >>ready; sleep 60 & wait"));
  const std::string path = where.cwd() + "/ready";
  const std::function<bool()> all_ready = [path] { return numbers_in(path).size() == 100; };
  const bool ready = co_await becomes_true(all_ready, 20s);
  CHECK(ready);
  const std::vector<pid_t> pids = co_await pids_here(place, where, numbers_in(path));
  CHECK(std::all_of(pids.begin(), pids.end(), is_alive));
  const stopwatch watch;
  co_await place.destroy(where);
  CHECK(watch.elapsed() < 5s);
  CHECK(alive_among(pids).empty());
  for (auto& run : all) {
    const exec_result result = co_await run.result();
    CHECK(ended_with_its_handle(result.status));
  }
}

task<void> destroyed_while_starting(context& place, handle where) {
  std::vector<running<exec_result>> all;
  for (int i = 0; i < 30; ++i) all.push_back(start_exec(place, where, "sleep 60"));
  co_await place.destroy(where);
  for (auto& run : all) {
    try {
      const exec_result result = co_await run.result();
      CHECK(ended_with_its_handle(result.status));
    } catch (const std::system_error& failure) {
      const bool told = failure.code() == errc::destroyed || is_cancelled(failure.code());
      CHECK(told);
    }
  }
}

task<void> outlives_its_handle(context& place, handle where) {
  process reading = co_await place.exec_stream(where, "echo some; echo x >ready; sleep 60");
  process waiting = co_await place.exec_stream(where, command("sleep 60").input_stream());
  process killed = co_await place.exec_stream(where, "sleep 60");
  process ended = co_await place.exec_stream(where, "exit 4");
  exit_status status = co_await ended.wait();
  co_await file_appears(where.cwd() + "/ready");
  co_await place.destroy(where);
  CHECK(*ended.status() == exit_status::exited(4));
  co_await read_all(reading);
  CHECK(ended_with_its_handle(*reading.status()));
  const std::error_code code = co_await failure_of(waiting.write("text"));
  CHECK(code);
  co_await waiting.close_stdin();
  status = co_await waiting.wait();
  CHECK(ended_with_its_handle(status));
  killed.signal(15);
  status = co_await killed.kill();
  CHECK(ended_with_its_handle(status));
}

task<void> outlives_its_context(context& place, handle where) {
  std::unique_ptr<context> other = another_context(place);
  const handle there = co_await other->spawn(spawn_options().cwd(where.cwd()));
  process reading = co_await other->exec_stream(there, "echo pids $$; sleep 60");
  const std::vector<pid_t> pids = co_await read_pids(*other, there, reading);
  process killed = co_await other->exec_stream(there, "sleep 60");
  other.reset();
  const bool gone = co_await all_gone(pids, 1s);
  CHECK_MESSAGE(gone, alive_among(pids));
  co_await read_all(reading);
  CHECK(ended_with_its_handle(*reading.status()));
  const exit_status status = co_await killed.kill();
  CHECK(ended_with_its_handle(status));
}

task<void> apart(context& place, handle where) {
  const handle other = co_await place.spawn(spawn_options().cwd(where.cwd() + "/other"));
  const exec_result one = co_await place.exec(where, child("tree", "leave", "quiet"));
  const exec_result two = co_await place.exec(other, child("tree", "leave", "quiet"));
  std::vector<pid_t> kept = co_await pids_said(place, where, one.std_out);
  const std::vector<pid_t> ended = co_await pids_said(place, other, two.std_out);
  REQUIRE(kept.size() == 7);
  REQUIRE(ended.size() == 7);
  auto run = start_exec(place, where, "read line <&- ; sleep 0.5; echo unharmed");
  co_await place.destroy(other);
  CHECK(alive_among(ended).empty());
  kept.erase(kept.begin());  // it exited by itself
  for (const pid_t pid : kept) CHECK_FALSE(alive_among({pid}).empty());
  const exec_result result = co_await run.result();
  CHECK(result.std_out == "unharmed\n");
}

task<void> many_handles(context& place, handle where) {
  std::vector<handle> all;
  for (int i = 0; i < 20; ++i) all.push_back(co_await place.spawn());
  std::vector<running<exec_result>> runs;
  for (const handle& each : all) runs.push_back(start_exec(place, each, "echo here"));
  for (auto& run : runs) {
    const exec_result result = co_await run.result();
    CHECK(result.std_out == "here\n");
  }
  CHECK(place.handles().size() == 21);
  for (const handle& each : all) co_await place.destroy(each);
  CHECK(place.handles() == std::vector<handle>{where});
}

task<void> not_a_directory(context& place, handle where) {
  co_await place.exec(where, "echo text >file");
  const std::error_code code = co_await failure_of(place.spawn(spawn_options().cwd(where.cwd() + "/file")));
  CHECK(code);
  const std::error_code below = co_await failure_of(place.spawn(spawn_options().cwd(where.cwd() + "/file/below")));
  CHECK(below);
  CHECK(place.handles().size() == 1);
}

task<void> unread_output(context& place, handle where) {
  process unread = co_await place.exec_stream(where, child("flood", "104857600"));
  process ended = co_await place.exec_stream(where, "echo some");
  const stopwatch watch;
  co_await place.destroy(where);
  CHECK(watch.elapsed() < 3s);
}

task<void> destroyed_at_once(context& place, handle) {
  for (int i = 0; i < 10; ++i) {
    const handle fresh = co_await place.spawn();
    co_await place.destroy(fresh);
  }
  CHECK(place.handles().size() == 1);
}

constexpr contract_case handle_table[] = {
    {"handles are listed until they are destroyed, by every copy of the context", listed},
    {"a destroyed handle is refused everywhere, and its directory stays", destroyed_twice},
    {"a handle of nobody or of another context is refused", not_its_own},
    {"destroy() ends 100 running commands", destroyed_while_busy, 40s},
    {"destroy() ends commands that are being started", destroyed_while_starting, 20s},
    {"a process that outlives its handle has ended", outlives_its_handle},
    {"a process that outlives its context has ended", outlives_its_context},
    {"what happens to one handle does not touch another", apart},
    {"20 handles run commands at the same time", many_handles, 30s},
    {"a handle cannot start in a file", not_a_directory},
    {"destroy() does not wait for output that nobody reads", unread_output},
    {"a handle may be destroyed unused", destroyed_at_once},
};

}  // namespace

std::span<const contract_case> handle_cases() { return handle_table; }

}  // namespace berth::contract
