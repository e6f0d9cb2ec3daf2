/// How a command ended is told exactly.
#include "contract/contract.hpp"

#include <asio/steady_timer.hpp>

#include <signal.h>

namespace berth::contract {
namespace {

task<void> exit_codes(context& place, handle where) {
  for (const int code : {0, 1, 2, 124, 125, 126, 127, 128, 137, 254, 255}) {
    const exec_result result = co_await place.exec(where, child("exit", std::to_string(code)));
    CHECK(result.status == exit_status::exited(code));
    CHECK(result.ok() == (code == 0));
  }
}

task<void> program_missing(context& place, handle where) {
  exec_result result = co_await place.exec(where, argv("no-such-program-anywhere"));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 127);
  CHECK(result.status.message().find("no-such-program-anywhere") != std::string::npos);
  result = co_await place.exec(where, argv("/no/such/path"));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 127);
  process never = co_await place.exec_stream(where, argv("/no/such/path"));
  REQUIRE(never.status().has_value());
  CHECK(never.status()->reason() == end_reason::start_failed);
  result = co_await place.exec(where, "no-such-program-anywhere");
  CHECK(result.status == exit_status::exited(127));
  CHECK(result.std_err.find("no-such-program-anywhere") != std::string::npos);
}

task<void> program_not_executable(context& place, handle where) {
  co_await place.exec(where, "echo text >text; mkdir directory");
  exec_result result = co_await place.exec(where, argv("./text"));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 126);
  result = co_await place.exec(where, argv("./directory"));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 126);
  result = co_await place.exec(where, argv("./text/deeper"));
  CHECK(result.status.reason() == end_reason::start_failed);
}

task<void> script_without_interpreter(context& place, handle where) {
  co_await place.exec(where, "echo 'echo ran $1 $#' >script; chmod +x script; : >empty; chmod +x empty");
  exec_result result = co_await place.exec(where, argv("./script", "a", "b"));
  CHECK(result.std_out == "ran a 2\n");
  result = co_await place.exec(where, argv("./empty"));
  CHECK(result.ok());
}

task<void> failures_let_others_run(context& place, handle where) {
  asio::steady_timer timer(place.get_executor(), std::chrono::milliseconds(20));
  bool fired = false;
  timer.async_wait([&fired](std::error_code) { fired = true; });
  // Refused before anything is sent, so that nothing has to be waited for.
  const command too_large = argv("true", std::string(std::size_t{9} << 20, 'x'));
  for (int i = 0; i < 200 && !fired; ++i) {
    const exec_result result = co_await place.exec(where, too_large);
    REQUIRE(result.status.reason() == end_reason::start_failed);
  }
  CHECK(fired);
}

task<void> interpreter_missing(context& place, handle where) {
  co_await place.exec(where, "printf '#!/no/such/interpreter\\n' >script; chmod +x script");
  const exec_result result = co_await place.exec(where, argv("./script"));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 127);
}

task<void> failed_stream(context& place, handle where) {
  process running = co_await place.exec_stream(where, argv("/no/such/path").input_stream());
  const std::optional<chunk> piece = co_await running.next();
  CHECK_FALSE(piece.has_value());
  REQUIRE(running.status().has_value());
  CHECK(running.status()->reason() == end_reason::start_failed);
  exit_status status = co_await running.wait();
  CHECK(status.reason() == end_reason::start_failed);
  status = co_await running.kill();
  CHECK(status.reason() == end_reason::start_failed);
  running.signal(SIGTERM);
}

task<void> ended_by_signals(context& place, handle where) {
  for (const int signo : {SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGKILL, SIGPIPE}) {
    const exec_result result = co_await place.exec(where, "kill -" + std::to_string(signo) + " $$");
    CHECK(result.status == exit_status::signaled(signo));
    CHECK(result.status.code() == 128 + signo);
    CHECK(result.status.signal() == signo);
  }
}

task<void> signals_reach_it(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("trap"));
  co_await read_until(running, "ready\n");
  for (const int signo : {SIGINT, SIGTERM, SIGUSR1, SIGHUP}) {
    running.signal(signo);
    const std::string line = "got " + std::to_string(signo) + "\n";
    const std::string seen = co_await read_until(running, line);
    CHECK(seen == line);
  }
  running.signal(SIGUSR2);
  const exit_status status = co_await running.wait();
  CHECK(status == exit_status::exited(0));
  running.signal(SIGTERM);
}

task<void> signals_end_it(context& place, handle where) {
  for (const int signo : {SIGINT, SIGTERM, SIGKILL, SIGUSR1}) {
    process running = co_await place.exec_stream(where, child("trickle", "10000", "10"));
    co_await read_until(running, ".");
    running.signal(signo);
    const exit_status status = co_await running.wait();
    CHECK(status == exit_status::signaled(signo));
  }
}

task<void> stopped_and_continued(context& place, handle where) {
  process running = co_await place.exec_stream(where, "echo ready; kill -STOP $$; echo continued; exit 6");
  co_await read_until(running, "ready\n");
  const pid_t pid = co_await pid_here(place, where, running.pid());
  running.signal(SIGCONT);
  const std::function<bool()> gone = [&running, pid] {
    if (!alive_among({pid}).empty()) running.signal(SIGCONT);
    return alive_among({pid}).empty();
  };
  const bool ended = co_await becomes_true(gone);
  CHECK(ended);
  const auto rest = co_await read_all(running);
  CHECK(rest->out == "continued\n");
  CHECK(*running.status() == exit_status::exited(6));
}

task<void> usage_reported(context& place, handle where) {
  const exec_result result = co_await place.exec(where, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
  CHECK(result.usage.user_time.count() > 1000);
  CHECK(result.usage.max_rss_bytes > 100000);
  CHECK(result.wall_time >= result.usage.user_time);
}

task<void> status_waits_for_the_end(context& place, handle where) {
  process running = co_await place.exec_stream(where, "exit 9");
  CHECK_FALSE(running.status().has_value());
  exit_status status = co_await running.wait();
  CHECK(status == exit_status::exited(9));
  status = co_await running.wait();
  CHECK(status == exit_status::exited(9));
  status = co_await running.kill();
  CHECK(status == exit_status::exited(9));
}

task<void> output_closed_early(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("close", "300", "1", "2"));
  const auto all = co_await read_all(running);
  CHECK(all->out.empty());
  REQUIRE(running.status().has_value());
  CHECK(*running.status() == exit_status::exited(7));
  const exec_result result = co_await place.exec(where, child("close", "100", "2"));
  CHECK(result.status == exit_status::exited(7));
  CHECK(result.std_out == "closed\n");
}

constexpr contract_case end_table[] = {
    {"exit codes are told exactly", exit_codes},
    {"a missing program is start_failed with 127, by name and by path", program_missing},
    {"a file that is not executable and a directory are start_failed with 126", program_not_executable},
    {"a script without #! is run by the shell", script_without_interpreter, needs::kernel_refusals},
    {"starts that fail at once let others run", failures_let_others_run},
    {"a missing interpreter is start_failed with 127", interpreter_missing, needs::kernel_refusals},
    {"a stream of a failed start is at its end at once", failed_stream},
    {"a signal is told with its number and 128 + n", ended_by_signals, needs::ended_by_signal},
    {"signal() reaches a command that handles it", signals_reach_it, 20s, needs::signals},
    {"signal() ends a command that does not", signals_end_it, needs::signals},
    {"a command that stops itself is continued by signal()", stopped_and_continued, needs::kills_tree | needs::signals},
    {"usage is reported where the context can", usage_reported, needs::usage},
    {"the status is there after the end, and stays", status_waits_for_the_end},
    {"a command that closes its output is waited for", output_closed_early},
};

}  // namespace

std::span<const contract_case> end_cases() { return end_table; }

}  // namespace berth::contract
