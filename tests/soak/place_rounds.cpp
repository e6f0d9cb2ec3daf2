#include "soak/place_rounds.hpp"

#include <berth/process_context.hpp>

#include "support/leaks.hpp"
#include "support/mixed_commands.hpp"
#include "support/proc_scan.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <signal.h>
#include <unistd.h>

#include <functional>
#include <vector>

namespace berth::test {
namespace {

using namespace std::chrono_literals;

constexpr int command_count = 20;

struct round_state {
  asio::io_context& io;
  leak_check& leaks;
  std::string wrong = {};

  void expect(bool condition, const std::string& what) {
    if (!condition) wrong += what + "\n";
  }
};

std::string run_round(std::function<task<void>(round_state&)> body) {
  leak_check leaks;
  std::string wrong;
  {
    asio::io_context io(1);
    round_state state{io, leaks};
    bool ended = false;
    const auto on_end = [&](std::exception_ptr failure) {
      ended = true;
      try {
        if (failure) std::rethrow_exception(failure);
      } catch (const std::exception& error) {
        state.wrong += std::string("threw: ") + error.what() + "\n";
      }
    };
    asio::co_spawn(io, body(state), on_end);
    io.run_for(60s);
    state.expect(ended, "the round did not end in 60 s");
    state.expect(io.stopped(), "work is left in the io_context");
    wrong = state.wrong;
  }
  for (const std::string& left : leaks.left_over(2s)) wrong += left + "\n";
  return wrong;
}

task<std::vector<process>> start_all(context& place, handle where) {
  std::vector<process> all;
  for (int i = 0; i < command_count; ++i) {
    command what = mixed_command(i);
    what.grace(200ms);
    all.push_back(co_await place.exec_stream(where, what));
  }
  for (process& each : all) {
    const std::optional<chunk> line = co_await each.next();
    if (!line) throw std::runtime_error("a command ended by itself");
  }
  co_return all;
}

task<void> expect_no_commands(round_state& round) {
  const std::function<bool()> none = [&round] { return round.leaks.commands().empty(); };
  const bool gone = co_await becomes_true(none, 2s);
  round.expect(gone, "alive: " + alive_among(round.leaks.commands()));
}

task<void> kill_all(round_state& round, std::vector<process>& all) {
  std::vector<running<exit_status>> kills;
  for (process& each : all) kills.emplace_back(round.io.get_executor(), each.kill());
  for (auto& one : kills) {
    const exit_status status = co_await one.result();
    round.expect(status.reason() == end_reason::cancelled, describe(status));
  }
}

bool ended_with_the_place(end_reason reason) { return reason == end_reason::cancelled || reason == end_reason::lost; }

task<void> by_deadline(round_state& round) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<running<exec_result>> all;
  for (int i = 0; i < command_count; ++i) {
    all.emplace_back(place.get_executor(), place.exec(where, mixed_command(i).timeout(1500ms).grace(200ms)));
  }
  for (auto& run : all) {
    const exec_result result = co_await run.result();
    round.expect(result.status.reason() == end_reason::timed_out, describe(result.status));
    round.expect(alive_among(pids_in(result.std_out)).empty(), "alive after the result");
  }
  co_await expect_no_commands(round);
  co_await place.destroy(where);
}

task<void> by_cancel(round_state& round) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<running<exec_result>> all;
  for (int i = 0; i < command_count; ++i) {
    all.emplace_back(place.get_executor(), place.exec(where, mixed_command(i).grace(200ms)));
  }
  const std::function<bool()> many = [&round] { return round.leaks.commands().size() >= 50; };
  const bool started = co_await becomes_true(many, 10s);
  round.expect(started, "too few processes were there to be killed");
  for (auto& run : all) run.cancel();
  for (auto& run : all) {
    const exec_result result = co_await run.result();
    round.expect(result.status.reason() == end_reason::cancelled, describe(result.status));
  }
  co_await expect_no_commands(round);
  co_await place.destroy(where);
}

task<void> by_kill(round_state& round) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<process> all = co_await start_all(place, where);
  co_await kill_all(round, all);
  co_await expect_no_commands(round);
  co_await place.destroy(where);
}

task<void> by_drop(round_state& round) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<process> all = co_await start_all(place, where);
  all.clear();
  co_await expect_no_commands(round);
  co_await place.destroy(where);
}

task<void> by_destroy(round_state& round) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<process> all = co_await start_all(place, where);
  co_await place.destroy(where);
  round.expect(round.leaks.commands().empty(), "alive after destroy");
  for (process& each : all) {
    const exit_status status = co_await each.wait();
    round.expect(ended_with_the_place(status.reason()), describe(status));
  }
}

task<void> by_end_of_context(round_state& round) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  const std::vector<process> all = co_await start_all(place, where);
}

task<pid_t> find_resident() {
  const std::function<bool()> there = [] {
    for (const process_info& each : all_processes()) {
      if (each.parent == getpid() && !each.dead()) return true;
    }
    return false;
  };
  co_await becomes_true(there, 2s);
  for (const process_info& each : all_processes()) {
    if (each.parent == getpid() && !each.dead()) co_return each.pid;
  }
  throw std::runtime_error("no resident found");
}

/// Commands running beside the resident's loss are told as lost; the handle goes on with a new resident.
task<void> expect_recovery(round_state& round, context& place, handle where, std::vector<process>& all) {
  running<exec_result> next(place.get_executor(), place.exec(where, "echo on"));
  for (process& each : all) {
    const exit_status status = co_await each.wait();
    round.expect(status.reason() == end_reason::lost, describe(status));
  }
  exec_result result = co_await next.result();
  if (result.status.reason() == end_reason::lost) result = co_await place.exec(where, "echo on");
  round.expect(result.std_out == "on\n", "the next command: " + describe(result.status));
  co_await expect_no_commands(round);
  co_await place.destroy(where);
}

task<void> lost_to_signal(round_state& round, int signo) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<process> all = co_await start_all(place, where);
  const pid_t resident = co_await find_resident();
  kill(resident, signo);
  co_await expect_recovery(round, place, where, all);
}

task<void> killed_from_within(round_state& round) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<process> all = co_await start_all(place, where);
  all.push_back(co_await place.exec_stream(where, "kill -KILL $PPID; exec sleep 287"));
  co_await expect_recovery(round, place, where, all);
}

/// A stopped resident is continued, and then nothing is lost.
task<void> stopped(round_state& round, bool from_within) {
  context place = make_process_context(round.io);
  const handle where = co_await place.spawn();
  std::vector<process> all = co_await start_all(place, where);
  const pid_t resident = co_await find_resident();
  if (!from_within) kill(resident, SIGSTOP);
  const std::string text = from_within ? "kill -STOP $PPID; echo on" : "echo on";
  const exec_result result = co_await place.exec(where, text);
  round.expect(result.std_out == "on\n", "a command of a stopped resident: " + describe(result.status));
  co_await kill_all(round, all);
  co_await expect_no_commands(round);
  co_await place.destroy(where);
}

}  // namespace

std::string ended_by_deadline(int) { return run_round(by_deadline); }
std::string ended_by_cancel(int) { return run_round(by_cancel); }
std::string ended_by_kill(int) { return run_round(by_kill); }
std::string ended_by_drop(int) { return run_round(by_drop); }
std::string ended_by_destroy(int) { return run_round(by_destroy); }
std::string ended_by_end_of_context(int) { return run_round(by_end_of_context); }
std::string resident_killed(int) {
  return run_round([](round_state& round) { return lost_to_signal(round, SIGKILL); });
}
std::string resident_stopped(int) {
  return run_round([](round_state& round) { return stopped(round, false); });
}
std::string resident_killed_by_a_command(int) { return run_round(killed_from_within); }
std::string resident_stopped_by_a_command(int) {
  return run_round([](round_state& round) { return stopped(round, true); });
}

}  // namespace berth::test
