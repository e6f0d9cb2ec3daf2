/// Cancelled calls, `kill()`, and processes that are dropped.
#include "contract/contract.hpp"

#include <asio/error.hpp>
#include <asio/this_coro.hpp>

#include <signal.h>

#include <filesystem>

namespace berth::contract {
namespace {

/// The command's own signs of life can come before the news of its start; after another command's end they are here too.
task<void> let_starts_be_known(context& place, handle where) { co_await place.exec(where, argv("true")); }

task<void> exec_cancelled(context& place, handle where) {
  auto run = start_exec(place, where, "echo some; : >ready; echo x >ready; sleep 60");
  const bool ready = co_await file_appears(where.cwd() + "/ready");
  CHECK(ready);
  co_await let_starts_be_known(place, where);
  const stopwatch watch;
  run.cancel();
  const exec_result result = co_await run.result();
  CHECK(result.status.reason() == end_reason::cancelled);
  CHECK(result.status.code() == 128 + SIGTERM);
  CHECK(result.std_out == "some\n");
  CHECK(watch.elapsed() < 1s);
}

task<void> exec_cancelled_at_once(context& place, handle where) {
  for (int turns = 0; turns < 8; ++turns) {
    auto run = start_exec(place, where, "sleep 60");
    co_await pause_for(std::chrono::milliseconds(turns));
    run.cancel();
    try {
      const exec_result result = co_await run.result();
      CHECK(result.status.reason() == end_reason::cancelled);
    } catch (const std::system_error& failure) {
      CHECK(is_cancelled(failure.code()));
    }
  }
  const exec_result result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
}

task<exec_result> exec_and_look_later(context& place, handle where) {
  co_await asio::this_coro::throw_if_cancelled(false);
  const command noisy = command("echo x >ready; while :; do echo y; done").grace(30ms);
  co_return co_await place.exec(where, noisy);
}

task<void> cancelled_without_throwing(context& place, handle where) {
  running<exec_result> run(place.get_executor(), exec_and_look_later(place, where));
  co_await file_appears(where.cwd() + "/ready");
  co_await let_starts_be_known(place, where);
  run.cancel();
  const exec_result result = co_await run.result();
  CHECK(result.status.reason() == end_reason::cancelled);
}

task<void> cancelled_and_deaf(context& place, handle where) {
  auto run = start_exec(place, where, command("echo x >ready; exec " + child_path() + " ignore-term").grace(400ms));
  co_await file_appears(where.cwd() + "/ready");
  co_await let_starts_be_known(place, where);
  co_await pause_for(50ms);
  const stopwatch watch;
  run.cancel();
  const exec_result result = co_await run.result();
  CHECK(result.status.reason() == end_reason::cancelled);
  CHECK(watch.elapsed() < 1200ms);
}

task<int> exec_then_go_on(context& place, handle where) {
  co_await place.exec(where, "echo x >ready; sleep 60");
  co_await place.exec(where, "echo x >went_on");
  co_return 0;
}

task<void> next_await_throws(context& place, handle where) {
  running<int> run(place.get_executor(), exec_then_go_on(place, where));
  co_await file_appears(where.cwd() + "/ready");
  run.cancel();
  const std::error_code code = co_await failure_of(run.result());
  CHECK(code == asio::error::operation_aborted);
  CHECK_FALSE(std::filesystem::exists(where.cwd() + "/went_on"));
}

task<void> fifty_cancelled(context& place, handle where) {
  std::vector<running<exec_result>> all;
  for (int i = 0; i < 50; ++i)
    all.push_back(start_exec(place, where, "echo pids $$; echo x >ready$$; sleep 60 & wait"));
  const std::string directory = where.cwd();
  const std::function<bool()> all_ready = [directory] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(directory)) count += entry.is_regular_file();
    return count == 50;
  };
  const bool ready = co_await becomes_true(all_ready, 20s);
  CHECK(ready);
  co_await let_starts_be_known(place, where);
  for (auto& run : all) run.cancel();
  for (auto& run : all) {
    const exec_result result = co_await run.result();
    CHECK(result.status.reason() == end_reason::cancelled);
    const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
    CHECK(pids.size() == 1);
    CHECK(alive_among(pids).empty());
  }
}

task<void> kill_keeps_output(context& place, handle where) {
  process running = co_await place.exec_stream(where, "echo some; echo x >ready; sleep 60");
  co_await file_appears(where.cwd() + "/ready");
  exit_status status = co_await running.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(status.signal() == SIGTERM);
  const auto all = co_await read_all(running);
  CHECK(all->out == "some\n");
  CHECK(*running.status() == status);
  const exit_status again = co_await running.kill();
  CHECK(again == status);
}

task<void> kill_while_full(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("flood", "104857600"));
  std::uint64_t seen = 0;
  while (seen < std::uint64_t{4} << 20) {
    const auto piece = co_await running.next();
    REQUIRE(piece.has_value());
    seen += piece->bytes().size();
  }
  co_await pause_for(100ms);  // its pipe fills again, and it blocks
  const stopwatch watch;
  const exit_status status = co_await running.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(watch.elapsed() < 1s);
  const auto rest = co_await read_all(running);
  CHECK_FALSE(rest->out.empty());
  CHECK(is_pattern(rest->out, seen));
}

task<void> kill_with_much_output(context& place, handle where) {
  const std::string text = "trap 'sleep 0.3; exit 0' TERM; " + child_path() + " flood 104857600 & wait";
  process running = co_await place.exec_stream(where, text);
  // It prints: a TERM before its exec would be swallowed by the shell that is to become it.
  const auto first = co_await running.next();
  REQUIRE(first.has_value());
  const stopwatch watch;
  const exit_status status = co_await running.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(watch.elapsed() < 1500ms);
}

task<std::string> read_everything(process& source) {
  const auto all = co_await read_all(source);
  co_return all->out;
}

task<void> kill_beside_a_reader(context& place, handle where) {
  process target = co_await place.exec_stream(where, "echo some; echo x >ready; sleep 60");
  running<std::string> reader(place.get_executor(), read_everything(target));
  co_await file_appears(where.cwd() + "/ready");
  const exit_status status = co_await target.kill();
  CHECK(status.reason() == end_reason::cancelled);
  const std::string out = co_await reader.result();
  CHECK(out == "some\n");
}

task<void> dropped(context& place, handle where) {
  std::vector<pid_t> pids;
  {
    process running = co_await place.exec_stream(
        where, "trap 'echo x >polite' TERM; sleep 60 & echo pids $$ $!; while :; do wait; done");
    pids = co_await read_pids(place, where, running);
  }
  const bool gone = co_await all_gone(pids, 1s);
  CHECK_MESSAGE(gone, alive_among(pids));
  CHECK_FALSE(std::filesystem::exists(where.cwd() + "/polite"));
}

task<void> dropped_unread(context& place, handle where) {
  for (int i = 0; i < 20; ++i) {
    process unread = co_await place.exec_stream(where, child("flood", "1048576").input_stream());
    process ended = co_await place.exec_stream(where, "echo some");
  }
  const exec_result result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
}

task<void> replaced(context& place, handle where) {
  process one = co_await place.exec_stream(where, "echo pids $$; sleep 60");
  const std::vector<pid_t> pids = co_await read_pids(place, where, one);
  one = co_await place.exec_stream(where, "echo second");
  const bool gone = co_await all_gone(pids, 1s);
  CHECK_MESSAGE(gone, alive_among(pids));
  const auto all = co_await read_all(one);
  CHECK(all->out == "second\n");
}

task<std::string> next_bytes(process& source) {
  const std::optional<chunk> piece = co_await source.next();
  co_return piece ? piece->bytes() : std::string();
}

task<int> wait_code(process& source) {
  const exit_status status = co_await source.wait();
  co_return status.code();
}

task<void> reading_cancelled(context& place, handle where) {
  process source = co_await place.exec_stream(where, command("read line; echo $line; exit 3").input_stream());
  for (int i = 0; i < 20; ++i) {
    running<std::string> reader(place.get_executor(), next_bytes(source));
    co_await pause_for(1ms);
    reader.cancel();
    const std::error_code code = co_await failure_of(reader.result());
    CHECK(is_cancelled(code));
  }
  co_await source.write("kept\n");
  const auto all = co_await read_all(source);
  CHECK(all->out == "kept\n");
  CHECK(*source.status() == exit_status::exited(3));
}

task<void> cancelled_reads_lose_nothing(context& place, handle where) {
  process source = co_await place.exec_stream(where, child("tiny", "20000"));
  std::string seen;
  while (!source.status()) {
    running<std::string> reader(place.get_executor(), next_bytes(source));
    if (!reader.ended()) co_await pause_for(1ms);
    reader.cancel();
    try {
      seen += co_await reader.result();
    } catch (const std::system_error& failure) {
      CHECK(is_cancelled(failure.code()));
    }
  }
  CHECK(seen.size() == 20000);
  CHECK(is_pattern(seen));
}

task<void> waiting_cancelled(context& place, handle where) {
  process source = co_await place.exec_stream(where, command("read line; exit 3").input_stream());
  running<int> waiter(place.get_executor(), wait_code(source));
  co_await pause_for(5ms);
  waiter.cancel();
  const std::error_code code = co_await failure_of(waiter.result());
  CHECK(is_cancelled(code));
  co_await source.write("go\n");
  const exit_status status = co_await source.wait();
  CHECK(status == exit_status::exited(3));
}

constexpr contract_case cancel_table[] = {
    {"a caller that does not throw when cancelled is heard while output keeps coming", cancelled_without_throwing},
    {"a cancelled exec ends its command and gives what came", exec_cancelled, needs::kills_tree},
    {"an exec may be cancelled at any moment of its start", exec_cancelled_at_once},
    {"a cancelled exec ends a command that ignores TERM when the grace is over", cancelled_and_deaf},
    {"after a cancelled exec the next await throws", next_await_throws},
    {"50 commands cancelled at once all end", fifty_cancelled, 40s, needs::kills_tree},
    {"kill() ends a command; what came is still there", kill_keeps_output, needs::kills_tree},
    {"kill() ends a command that is blocked on its output", kill_while_full},
    {"kill() returns when the tree has ended, however much output waits", kill_with_much_output},
    {"kill() beside a reader ends both", kill_beside_a_reader},
    {"a dropped process is killed at once, without TERM", dropped, needs::kills_tree},
    {"processes dropped unread leave nothing", dropped_unread, 20s},
    {"a process that is assigned over is killed", replaced, needs::kills_tree},
    {"a cancelled next() ends the wait only", reading_cancelled},
    {"cancelled reads lose no byte", cancelled_reads_lose_nothing, 30s},
    {"a cancelled wait() leaves the command running", waiting_cancelled},
};

}  // namespace

std::span<const contract_case> cancel_cases() { return cancel_table; }

}  // namespace berth::contract
