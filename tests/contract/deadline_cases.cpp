/// Deadlines: of a command's whole time, and of its silence.
#include "contract/contract.hpp"

#include <signal.h>

namespace berth::contract {
namespace {

task<void> deadline_keeps_output(context& place, handle where) {
  const stopwatch watch;
  const command slow = command("printf 'some\\0'; echo err >&2; sleep 60").timeout(300ms);
  const exec_result result = co_await place.exec(where, slow);
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.status.code() == 124);
  CHECK(result.status.signal() == SIGTERM);
  CHECK(result.std_out == std::string("some\0", 5));
  CHECK(result.std_err == "err\n");
  CHECK(result.survivors.empty());
  CHECK(watch.elapsed() >= 300ms);
  CHECK(watch.elapsed() < 1500ms);
}

task<void> silence_keeps_output(context& place, handle where) {
  const stopwatch watch;
  const command slow = command(child_path() + " trickle 10 50; exec sleep 60").idle_timeout(400ms);
  const exec_result result = co_await place.exec(where, slow);
  CHECK(result.status.reason() == end_reason::idle_timed_out);
  CHECK(result.status.code() == 124);
  CHECK(result.std_out == "..........");
  CHECK(watch.elapsed() >= 900ms);
  CHECK(watch.elapsed() < 2500ms);
}

task<void> trickle_is_no_silence(context& place, handle where) {
  const exec_result result = co_await place.exec(where, child("trickle", "15", "100").idle_timeout(500ms));
  CHECK(result.ok());
  CHECK(result.std_out == "...............");
  const command other = command(child_path() + " trickle 15 100 >&2").idle_timeout(500ms);
  const exec_result second = co_await place.exec(where, other);
  CHECK(second.ok());
}

task<void> in_time(context& place, handle where) {
  const exec_result result = co_await place.exec(where, command("echo in time").timeout(5s).idle_timeout(5s));
  CHECK(result.ok());
  CHECK(result.std_out == "in time\n");
}

task<void> last_words(context& place, handle where) {
  const command slow = command("trap 'echo bye; exit 3' TERM; echo ready; sleep 60 & wait").timeout(300ms);
  const exec_result result = co_await place.exec(where, slow);
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.status.code() == 124);
  CHECK(result.std_out == "ready\nbye\n");
}

task<void> grace_runs_out(context& place, handle where) {
  const stopwatch watch;
  const command deaf = child("ignore-term").timeout(200ms).grace(400ms);
  const exec_result result = co_await place.exec(where, deaf);
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.status.signal() == SIGKILL);
  CHECK(result.std_out == "ready\n");
  CHECK(watch.elapsed() >= 600ms);
  CHECK(watch.elapsed() < 1500ms);
}

task<void> no_grace(context& place, handle where) {
  const command slow = command("trap 'echo bye' TERM; echo ready; sleep 60 & wait").timeout(300ms).grace(0ms);
  const exec_result result = co_await place.exec(where, slow);
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.status.signal() == SIGKILL);
  CHECK(result.std_out == "ready\n");
}

task<void> stopped_command(context& place, handle where) {
  const stopwatch watch;
  const exec_result result = co_await place.exec(where, command("echo ready; kill -STOP $$; echo no").timeout(300ms));
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.std_out == "ready\n");
  CHECK(watch.elapsed() < 1500ms);
}

task<void> output_closed(context& place, handle where) {
  const stopwatch watch;
  exec_result result = co_await place.exec(where, child("close", "60000", "1", "2").timeout(300ms));
  CHECK(result.status.reason() == end_reason::timed_out);
  result = co_await place.exec(where, child("close", "60000", "1", "2").idle_timeout(300ms));
  CHECK(result.status.reason() == end_reason::idle_timed_out);
  CHECK(watch.elapsed() < 3s);
}

task<void> input_pending(context& place, handle where) {
  const std::string bytes(std::size_t{8} << 20, 'x');
  const exec_result result = co_await place.exec(where, argv("sleep", "60").input(bytes).timeout(300ms));
  CHECK(result.status.reason() == end_reason::timed_out);
}

task<void> of_a_stream(context& place, handle where) {
  process running = co_await place.exec_stream(where, command("echo some; sleep 60").timeout(300ms));
  const auto all = co_await read_all(running);
  CHECK(all->out == "some\n");
  REQUIRE(running.status().has_value());
  CHECK(running.status()->reason() == end_reason::timed_out);
  process other = co_await place.exec_stream(where, command("echo some; sleep 60").idle_timeout(300ms));
  const exit_status status = co_await other.wait();
  CHECK(status.reason() == end_reason::idle_timed_out);
}

task<void> nobody_reads(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("flood", "16777216").idle_timeout(300ms));
  co_await pause_for(900ms);
  const auto all = co_await read_all(running);
  CHECK(all->out.size() == 16777216);
  CHECK(running.status()->ok());
}

task<void> holds_while_nobody_waits(context& place, handle where) {
  process running = co_await place.exec_stream(where, command("echo pids $$; exec sleep 60").timeout(500ms));
  const std::vector<pid_t> pids = co_await read_pids(place, where, running);
  const bool gone = co_await all_gone(pids, 3s);
  CHECK_MESSAGE(gone, alive_among(pids));
  const exit_status status = co_await running.wait();
  CHECK(status.reason() == end_reason::timed_out);
}

task<void> both_deadlines(context& place, handle where) {
  const command steady = child("trickle", "1000", "20").idle_timeout(400ms).timeout(900ms);
  const exec_result result = co_await place.exec(where, steady);
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.std_out.size() > 10);
}

task<void> longest_time(context& place, handle where) {
  const command endless = command("echo hi").timeout(std::chrono::milliseconds::max());
  const exec_result result = co_await place.exec(where, endless);
  CHECK(result.ok());
  CHECK(result.std_out == "hi\n");
}

constexpr contract_case deadline_table[] = {
    {"a deadline ends a command and keeps what came", deadline_keeps_output, needs::kills_tree},
    {"an idle deadline ends a silent command and keeps what came", silence_keeps_output},
    {"an idle deadline does not end a command that trickles", trickle_is_no_silence},
    {"a command in time is not touched by its deadlines", in_time},
    {"last words after TERM are kept", last_words, needs::kills_tree},
    {"KILL comes when the grace has run out, not later", grace_runs_out, needs::kills_tree},
    {"a grace of 0 is KILL at once", no_grace, needs::kills_tree},
    {"a deadline ends a command that stopped itself", stopped_command},
    {"deadlines end a command that closed its output", output_closed},
    {"a deadline ends a command that does not read its input", input_pending},
    {"deadlines end a stream", of_a_stream},
    {"time in which nobody reads is not silence", nobody_reads},
    {"a deadline holds while nobody waits", holds_while_nobody_waits, needs::kills_tree},
    {"the first of two deadlines that passes is told", both_deadlines},
    {"the longest time there is, is no deadline", longest_time},
};

}  // namespace

std::span<const contract_case> deadline_cases() { return deadline_table; }

}  // namespace berth::contract
