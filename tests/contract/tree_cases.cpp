/// When a command is ended, its whole tree is: children, nohup, setsid, double forks, without environment, stopped.
#include "contract/contract.hpp"

#include <algorithm>

namespace berth::contract {
namespace {

constexpr std::size_t tree_size = 7;

// `child tree` reports itself and one process for each way to get away; their parents are gone, their sessions their own.
task<process> start_tree(context& place, handle where, command what, std::vector<pid_t>& pids) {
  process running = co_await place.exec_stream(where, std::move(what));
  pids = co_await read_pids(place, where, running);
  CHECK(pids.size() == tree_size);
  co_return running;
}

task<void> by_deadline(context& place, handle where) {
  const stopwatch watch;
  const exec_result result = co_await place.exec(where, child("tree", "stay").timeout(700ms).grace(300ms));
  CHECK(result.status.reason() == end_reason::timed_out);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  CHECK(pids.size() == tree_size);
  CHECK(alive_among(pids).empty());
  CHECK(result.survivors.empty());
  CHECK_FALSE(result.streams_open);
  CHECK(watch.elapsed() < 2s);
}

task<void> by_idle_deadline(context& place, handle where) {
  const exec_result result = co_await place.exec(where, child("tree", "stay").idle_timeout(700ms).grace(300ms));
  CHECK(result.status.reason() == end_reason::idle_timed_out);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  CHECK(pids.size() == tree_size);
  CHECK(alive_among(pids).empty());
}

task<void> by_cancel(context& place, handle where) {
  const std::string text = "exec " + child_path() + " tree stay >out";
  auto run = start_exec(place, where, command(text).grace(300ms));
  const bool started = co_await file_appears(where.cwd() + "/out");
  CHECK(started);
  const exec_result printed = co_await place.exec(where, "cat out");
  const std::vector<pid_t> pids = co_await pids_said(place, where, printed.std_out);
  CHECK(pids.size() == tree_size);
  run.cancel();
  const exec_result result = co_await run.result();
  CHECK(result.status.reason() == end_reason::cancelled);
  CHECK(alive_among(pids).empty());
}

task<void> by_kill(context& place, handle where) {
  std::vector<pid_t> pids;
  process running = co_await start_tree(place, where, child("tree", "stay").grace(300ms), pids);
  const stopwatch watch;
  const exit_status status = co_await running.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(alive_among(pids).empty());
  CHECK(running.survivors().empty());
  CHECK(watch.elapsed() < 1s);
}

task<void> by_kill_without_grace(context& place, handle where) {
  std::vector<pid_t> pids;
  process running = co_await start_tree(place, where, child("tree", "stay", "quiet").grace(0ms), pids);
  const stopwatch watch;
  co_await running.kill();
  CHECK(alive_among(pids).empty());
  CHECK(watch.elapsed() < 500ms);
}

task<void> by_drop(context& place, handle where) {
  std::vector<pid_t> pids;
  {
    process running = co_await start_tree(place, where, child("tree", "stay"), pids);
    const pid_t first = co_await pid_here(place, where, running.pid());
    CHECK(pids.front() == first);
  }
  const bool gone = co_await all_gone(pids, 1s);
  CHECK_MESSAGE(gone, alive_among(pids));
}

task<void> by_destroy(context& place, handle where) {
  std::vector<pid_t> pids;
  process running = co_await start_tree(place, where, child("tree", "stay"), pids);
  co_await place.destroy(where);
  CHECK(alive_among(pids).empty());
  const exit_status status = co_await running.wait();
  const bool told = status.reason() == end_reason::cancelled || status.reason() == end_reason::lost;
  CHECK(told);
}

task<void> by_end_of_the_context(context& place, handle where) {
  std::vector<pid_t> pids;
  std::vector<pid_t> left;
  {
    std::unique_ptr<context> other = another_context(place);
    const handle there = co_await other->spawn(spawn_options().cwd(where.cwd()));
    process running = co_await start_tree(*other, there, child("tree", "stay"), pids);
    const exec_result result = co_await other->exec(there, child("tree", "leave", "quiet"));
    left = co_await pids_said(*other, there, result.std_out);
    CHECK(left.size() == tree_size);
    other.reset();
  }
  const bool gone = co_await all_gone(pids, 1s);
  CHECK_MESSAGE(gone, alive_among(pids));
  const bool also_gone = co_await all_gone(left, 1s);
  CHECK_MESSAGE(also_gone, alive_among(left));
}

task<void> as_a_shell_does_it(context& place, handle where) {
  const std::string text =
      "sleep 61 & a=$!; nohup sleep 62 >/dev/null 2>&1 & b=$!; setsid sleep 63 & c=$!; (sleep 64 & echo $! >d; :);"
      "env -i setsid sleep 65 & e=$!; sh -c 'sleep 66 & echo $! >f'; (trap '' TERM HUP; sleep 67) & g=$!;"
      "echo pids $$ $a $b $c $(cat d) $e $(cat f) $g; wait";
  process running = co_await place.exec_stream(where, command(text).grace(300ms));
  const std::vector<pid_t> pids = co_await read_pids(place, where, running);
  CHECK(pids.size() == 8);
  co_await running.kill();
  CHECK(alive_among(pids).empty());
}

task<void> only_its_own(context& place, handle where) {
  std::vector<pid_t> killed, kept;
  process one = co_await start_tree(place, where, child("tree", "stay").grace(0ms), killed);
  process other = co_await start_tree(place, where, child("tree", "stay").grace(0ms), kept);
  const exec_result result = co_await place.exec(where, child("tree", "leave", "quiet"));
  const std::vector<pid_t> left = co_await pids_said(place, where, result.std_out);
  co_await one.kill();
  CHECK(alive_among(killed).empty());
  for (const pid_t pid : kept) CHECK_FALSE(alive_among({pid}).empty());
  CHECK(left.size() == tree_size);
  const auto alive = std::count_if(left.begin(), left.end(), [](pid_t pid) { return !alive_among({pid}).empty(); });
  CHECK(alive == tree_size - 1);  // all but the first, which exited
  co_await other.kill();
  CHECK(alive_among(kept).empty());
}

// What `bomb` started carries no pid that could be printed: the leak check finds who is left, by mark and by tag.
task<void> bomb_by_kill(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("bomb").grace(0ms));
  const std::string seen = co_await read_until(running, "ready\n");
  CHECK(seen == "ready\n");
  const stopwatch watch;
  const exit_status status = co_await running.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(watch.elapsed() < 3s);
  const exec_result result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
}

task<void> bomb_by_deadline(context& place, handle where) {
  const exec_result result = co_await place.exec(where, child("bomb").timeout(1s).grace(200ms));
  CHECK(result.std_out == "ready\n");
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.survivors.empty());
}

task<void> bomb_by_destroy(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("bomb"));
  const std::string seen = co_await read_until(running, "ready\n");
  CHECK(seen == "ready\n");
  co_await place.destroy(where);
}

constexpr contract_case tree_table[] = {
    {"a deadline ends the whole tree", by_deadline, needs::kills_tree},
    {"an idle deadline ends the whole tree", by_idle_deadline, needs::kills_tree},
    {"a cancelled exec ends the whole tree", by_cancel, needs::kills_tree},
    {"kill() ends the whole tree", by_kill, needs::kills_tree},
    {"kill() without grace ends the whole tree at once", by_kill_without_grace, needs::kills_tree},
    {"a dropped process takes its whole tree along", by_drop, needs::kills_tree | needs::pids},
    {"destroy() ends the whole tree", by_destroy},
    {"the end of the context ends running trees and what was left", by_end_of_the_context},
    {"&, nohup, setsid, double fork and env -i of a shell end with its command", as_a_shell_does_it, needs::kills_tree},
    {"a kill ends its own tree only", only_its_own, needs::kills_tree},
    {"kill() ends a fork loop", bomb_by_kill, 30s, needs::kills_tree},
    {"a deadline ends a fork loop", bomb_by_deadline, 30s, needs::kills_tree},
    {"destroy() ends a fork loop", bomb_by_destroy, 30s},
};

}  // namespace

std::span<const contract_case> tree_cases() { return tree_table; }

}  // namespace berth::contract
