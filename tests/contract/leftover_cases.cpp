/// What a command leaves running when it exits by itself lives on with the handle, as in a shell.
#include "contract/contract.hpp"

#include <algorithm>

namespace berth::contract {
namespace {

bool all_but_first_alive(const std::vector<pid_t>& pids) {
  return std::none_of(pids.begin() + 1, pids.end(), [](pid_t pid) { return alive_among({pid}).empty(); });
}

task<void> left_until_destroy(context& place, handle where) {
  const stopwatch watch;
  const exec_result result = co_await place.exec(where, child("tree", "leave", "quiet"));
  CHECK(result.status == exit_status::exited(0));
  CHECK_FALSE(result.streams_open);
  CHECK(watch.elapsed() < 1s);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  REQUIRE(pids.size() == 7);
  for (int i = 0; i < 3; ++i) co_await place.exec(where, command("sleep 60").timeout(100ms));
  CHECK(all_but_first_alive(pids));
  co_await place.destroy(where);
  CHECK(alive_among(pids).empty());
}

task<void> holding_the_pipes(context& place, handle where) {
  const stopwatch watch;
  const exec_result result = co_await place.exec(where, child("tree", "leave"));
  CHECK(result.status == exit_status::exited(0));
  CHECK(result.streams_open);
  CHECK(watch.elapsed() < 2500ms);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  REQUIRE(pids.size() == 7);
  CHECK(all_but_first_alive(pids));
  co_await place.destroy(where);
  CHECK(alive_among(pids).empty());
}

task<void> ended_on_request(context& place, handle where) {
  const stopwatch watch;
  const exec_result result = co_await place.exec(where, child("tree", "leave").end_leftovers().grace(300ms));
  CHECK(result.status == exit_status::exited(0));
  CHECK_FALSE(result.streams_open);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  REQUIRE(pids.size() == 7);
  CHECK(alive_among(pids).empty());
  CHECK(watch.elapsed() < 2s);
  const exec_result quiet = co_await place.exec(where, command("sleep 60 & exit 3").end_leftovers());
  CHECK(quiet.status == exit_status::exited(3));
}

task<void> late_output(context& place, handle where) {
  const exec_result result = co_await place.exec(where, "(sleep 0.1; echo late) & echo first");
  CHECK(result.std_out == "first\nlate\n");
  CHECK_FALSE(result.streams_open);
}

task<void> stream_left_open(context& place, handle where) {
  const stopwatch watch;
  process running = co_await place.exec_stream(where, child("hold"));
  const auto all = co_await read_all(running);
  CHECK(running.status()->ok());
  CHECK(running.streams_open());
  CHECK(watch.elapsed() < 2500ms);
  const std::vector<pid_t> pids = co_await pids_said(place, where, all->out);
  CHECK_FALSE(alive_among(pids).empty());
  co_await running.kill();  // it has ended: what it left is the handle's
  CHECK(running.status()->ok());
}

task<void> trickling_on(context& place, handle where) {
  const stopwatch watch;
  const exec_result result = co_await place.exec(where, child_path() + " trickle 200 50 & echo pids $!");
  CHECK(result.ok());
  CHECK(result.streams_open);
  CHECK(watch.elapsed() < 3s);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  CHECK_FALSE(alive_among(pids).empty());
}

command server() { return argv(BERTH_TEST_PROGRAMS "/server"); }

/// The answer of the server whose output is given, to a client in the same handle.
task<std::string> ask(context& place, handle where, std::string output, std::string question) {
  const auto at = output.find("port ");
  REQUIRE(at != output.npos);
  const std::string port = std::to_string(std::stoi(output.substr(at + 5)));
  const exec_result client = co_await place.exec(where, argv(BERTH_TEST_PROGRAMS "/server", "ask", port, question));
  CHECK(client.std_err.empty());
  co_return client.std_out;
}

task<void> server_goes_on(context& place, handle where) {
  const exec_result result = co_await place.exec(where, server());
  CHECK(result.ok());
  CHECK(result.streams_open);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  std::string answer = co_await ask(place, where, result.std_out, "are you there?");
  CHECK(answer == "pong");
  answer = co_await ask(place, where, result.std_out, "say 1048576");
  CHECK(answer == "said");
  co_await place.exec(where, command("sleep 60").timeout(100ms));
  answer = co_await ask(place, where, result.std_out, "say 1048576");
  CHECK(answer == "said");
  CHECK_FALSE(alive_among(pids).empty());
  co_await place.destroy(where);
  CHECK(alive_among(pids).empty());
}

task<void> server_of_a_dropped_stream(context& place, handle where) {
  std::vector<pid_t> pids;
  std::string output;
  {
    process running = co_await place.exec_stream(where, server());
    const auto all = co_await read_all(running);
    output = all->out;
    pids = co_await pids_said(place, where, all->out);
    CHECK(running.status()->ok());
  }
  const std::string answer = co_await ask(place, where, output, "say 1048576");
  CHECK(answer == "said");
  CHECK_FALSE(alive_among(pids).empty());
}

task<void> killed_command_leaves_earlier_jobs(context& place, handle where) {
  const exec_result job = co_await place.exec(where, "sleep 60 >/dev/null 2>&1 & echo pids $!");
  const std::vector<pid_t> pids = co_await pids_said(place, where, job.std_out);
  auto run = start_exec(place, where, "echo x >ready; sleep 60");
  co_await file_appears(where.cwd() + "/ready");
  run.cancel();
  const exec_result result = co_await run.result();
  CHECK(result.status.reason() == end_reason::cancelled);
  CHECK_FALSE(alive_among(pids).empty());
}

task<void> deadline_does_not_reach_leftovers(context& place, handle where) {
  const command quick = command("sleep 60 >/dev/null 2>&1 & echo pids $!").timeout(300ms).idle_timeout(300ms);
  const exec_result result = co_await place.exec(where, quick);
  CHECK(result.ok());
  co_await pause_for(700ms);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  CHECK_FALSE(alive_among(pids).empty());
}

task<void> fast_with_quiet_jobs(context& place, handle where) {
  const stopwatch watch;
  for (int i = 0; i < 10; ++i) co_await place.exec(where, "sleep 60 >/dev/null 2>&1 &");
  CHECK(watch.elapsed() < 1s);
}

task<void> signalled_command_leaves_jobs(context& place, handle where) {
  const exec_result result = co_await place.exec(where, "sleep 60 >/dev/null 2>&1 & echo pids $!; kill -KILL $$");
  CHECK(result.status == exit_status::signaled(9));
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  CHECK_FALSE(alive_among(pids).empty());
}

constexpr contract_case leftover_table[] = {
    {"what a command left lives on, and ends with the handle", left_until_destroy},
    {"what holds the pipes delays the result by 2.5 s at most, and lives on", holding_the_pipes,
     needs::leftover_output},
    {"end_leftovers() ends what a command left", ended_on_request, needs::kills_tree},
    {"what comes shortly after the exit is still collected", late_output},
    {"a stream that is held open ends too, and says so", stream_left_open, needs::leftover_output},
    {"a job that prints for ever does not hold up the result", trickling_on, needs::leftover_output},
    {"a server that was left goes on answering and may print", server_goes_on, needs::leftover_output},
    {"a server that a stream left goes on when the stream is dropped", server_of_a_dropped_stream,
     needs::leftover_output},
    {"a cancelled command does not take earlier jobs along", killed_command_leaves_earlier_jobs},
    {"a deadline does not reach what an ended command left", deadline_does_not_reach_leftovers, needs::fast_starts},
    {"a job without the pipes does not delay the result", fast_with_quiet_jobs, needs::fast_starts},
    {"a command that dies of a signal leaves its jobs too", signalled_command_leaves_jobs, needs::ended_by_signal},
};

}  // namespace

std::span<const contract_case> leftover_cases() { return leftover_table; }

}  // namespace berth::contract
