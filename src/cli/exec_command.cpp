#include "cli/exec_command.hpp"

#include "cli/chosen_ports.hpp"
#include "cli/command_run.hpp"
#include "cli/container_place.hpp"
#include "cli/exec_options.hpp"
#include "cli/exec_report.hpp"
#include "cli/isolation_options.hpp"
#include "cli/json_events.hpp"
#include "cli/orderly_end.hpp"
#include "cli/pull_events.hpp"
#include "cli/standard_stream.hpp"
#include "cli/stdin_pump.hpp"
#include "core/compat.hpp"
#include "core/event.hpp"

#include <berth/error.hpp>
#include <berth/process_context.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

// What a signal needs to be on its way before we stop.
constexpr auto sending_time = 20ms;

process_context_options context_options(const exec_options& given) {
  process_context_options options;
  options.inherit_env = given.inherit_env;
  options.login_environment = given.login_env;
  options.isolation = given.isolation;
  options.log = [](log_level level, std::string_view text) {
    if (level == log_level::warning && !is_told_by_commands(text)) print_error("exec", text);
  };
  return options;
}

/// Who hears of the pull of an image, if anybody.
struct pull_listeners {
  std::shared_ptr<pull_display> display = {};
  std::shared_ptr<pull_events> events = {};
};

pull_listeners listeners_for(asio::io_context& io, const exec_options& given) {
  pull_listeners found;
  if (given.container && given.json)
    found.events = std::make_shared<pull_events>(io.get_executor());
  else if (given.container)
    found.display = std::make_shared<pull_display>("exec");
  return found;
}

std::optional<docker_context> container_for(asio::io_context& io, const exec_options& given,
                                            const pull_listeners& listeners) {
  if (!given.container) return std::nullopt;
  docker_context_options options = *given.container;
  if (listeners.events) options.on_pull = [to = listeners.events](const pull_progress& now) { to->tell(now); };
  return make_container_context(io, std::move(options), "exec", listeners.display);
}

context place_for(asio::io_context& io, const exec_options& given, const std::optional<docker_context>& container) {
  if (container) return *container;
  return make_process_context(io, context_options(given));
}

/// Everything of one `berth exec`; shared by the coroutines that run beside each other.
struct exec_run : command_run {
  exec_run(asio::io_context& io, exec_options given, pull_listeners told, std::optional<docker_context> its_container)
      : command_run(io, place_for(io, given, its_container)),
        options(std::move(given)),
        container(std::move(its_container)),
        pulls(std::move(told)),
        pulls_written(io.get_executor()),
        err(io.get_executor(), STDERR_FILENO, standard_stream::direction::out) {}

  exec_options options;
  std::optional<docker_context> container;  ///< `place`, where it is one
  std::vector<docker_port> ports;           ///< that were left to the daemon to choose
  pull_listeners pulls;
  event pulls_written;
  standard_stream err;
  json_events events;

  exec_summary summary;
  int code = exit_own_failure;
  int interrupts = 0;
  bool told_result = false;
};

// ---- the command --------------------------------------------------------------------------------------------------------

task<std::error_code> pass_on(std::shared_ptr<exec_run> run, chunk piece) {
  if (piece.is_hint()) co_return co_await try_write(run->err, std::move(piece).bytes());
  const bool is_out = piece.stream() == output_stream::std_out;
  (is_out ? run->summary.out_bytes : run->summary.err_bytes) += piece.bytes().size();
  auto& stream = is_out || run->options.json ? run->out : run->err;
  auto bytes = run->options.json ? run->events.output(piece) : std::move(piece).bytes();
  co_return co_await try_write(stream, std::move(bytes));
}

task<std::error_code> pass_on_all(std::shared_ptr<exec_run> run) {
  for (;;) {
    auto piece = co_await run->running->next();
    if (!piece) co_return std::error_code();
    const auto failure = co_await pass_on(run, std::move(*piece));
    if (failure) co_return failure;
  }
}

void sum_up(exec_run& run, clock::time_point began) {
  auto& summary = run.summary;
  summary.wall_time = std::chrono::duration_cast<std::chrono::microseconds>(clock::now() - began);
  summary.status = run.running->status().value_or(exit_status());
  summary.usage = run.running->usage();
  summary.streams_open = run.running->streams_open();
  summary.survivors = run.running->survivors();
  summary.denied = run.running->denied();
  run.code = summary.status.code();
}

task<std::error_code> write_event(std::shared_ptr<exec_run> run, std::string lines) {
  if (!run->options.json) co_return std::error_code();
  co_return co_await try_write(run->out, std::move(lines));
}

/// From the start of the command to its last byte. Gives the failure of our own output.
task<std::error_code> run_command(std::shared_ptr<exec_run> run) {
  const auto began = clock::now();
  auto what = make_command(run->options);
  auto started = co_await run->place.exec_stream(*run->where, std::move(what));
  run->running.emplace(std::move(started));
  if (has_begun(*run)) {
    auto line = run->events.start(run->running->pid(), run->ports);
    const auto failure = co_await write_event(run, std::move(line));
    if (failure) co_return failure;
    run->group.spawn(pump_stdin(*run->running));
  }
  const auto failure = co_await pass_on_all(run);
  if (failure) co_return failure;
  sum_up(*run, began);
  auto lines = run->events.rest() + run->events.result(run->summary);
  run->told_result = true;
  co_return co_await write_event(run, std::move(lines));
}

/// Our output could not be written.
void tell_output_failure(exec_run& run, std::error_code failure) {
  run.told_result = true;  // nobody is there to hear it
  const bool is_broken_pipe = failure == std::errc::broken_pipe;
  run.code = is_broken_pipe ? exit_broken_pipe : exit_own_failure;
  if (!is_broken_pipe) print_error("exec", fmt::format("output: {}", failure.message()));
}

task<void> write_pulls(std::shared_ptr<exec_run> run) {
  const auto failure = co_await run->pulls.events->write_to(run->out);
  run->pulls_written.notify();
  if (!failure) co_return;
  tell_output_failure(*run, failure);
  run->group.cancel();
}

task<void> spawn_place(std::shared_ptr<exec_run> run) {
  spawn_options at;
  if (is_cwd_of_place(run->options)) at.cwd(run->options.cwd);
  auto where = co_await run->place.spawn(std::move(at));
  run->where = std::move(where);
  if (run->pulls.display) run->pulls.display->finish();
  if (!run->container) co_return;
  auto asking = chosen_ports(*run->container, *run->where, run->options.container->ports);
  run->ports = co_await std::move(asking);
  if (!run->options.json) tell_ports("exec", run->ports);
}

/// The place, and all that was told of a pull.
task<void> open_place(std::shared_ptr<exec_run> run) {
  auto spawning = spawn_place(run);
  if (!run->pulls.events) co_return co_await std::move(spawning);
  run->group.spawn(write_pulls(run));
  const auto failure = co_await failure_of(std::move(spawning));
  run->pulls.events->end();
  co_await run->pulls_written.wait();
  if (failure) std::rethrow_exception(failure);
}

task<void> work(std::shared_ptr<exec_run> run) {
  const end_of_work at_end{*run};
  co_await open_place(run);
  const auto failure = co_await run_command(run);
  if (!failure) {
    tell_end(run->options, run->summary);
  } else {
    co_await run->running->kill();
    tell_output_failure(*run, failure);
  }
  run->group.cancel();
}

// ---- signals ------------------------------------------------------------------------------------------------------------

/// Not where the place cannot: then it just is not stopped.
void signal_if_possible(exec_run& run, int signo) {
  if (run.running && run.place.can().signals) run.running->signal(signo);
}

/// Control Z: the command stops with us, and goes on when we do. In a session of its own it would not hear of it.
task<void> stop_together(std::shared_ptr<exec_run> run) {
  if (run->pulls.display) run->pulls.display->hide();
  signal_if_possible(*run, SIGSTOP);
  asio::steady_timer sent(run->place.get_executor(), sending_time);
  co_await sent.async_wait(asio::use_awaitable);
  stop_ourselves(run->signals);
  signal_if_possible(*run, SIGCONT);
}

/// Passes signals on to the command. The second INT ends it with its tree, and what waits for a slow reader is dropped; so does the
/// first signal where the place can send none.
task<void> pass_signals_on(std::shared_ptr<exec_run> run) {
  constexpr auto token = as_tuple(asio::use_awaitable);
  while (!run->finished) {
    const auto result = co_await run->signals.async_wait(token);
    if (std::get<0>(result)) continue;
    const int signo = std::get<1>(result);
    if (signo == SIGTSTP) {
      co_await stop_together(run);
    } else if (!run->running) {
      if (signo == SIGINT) ++run->interrupts;
      run->code = 128 + signo;
      run->group.cancel();
    } else if ((signo == SIGINT && ++run->interrupts > 1) || !run->place.can().signals) {
      co_await run->running->kill();
      run->out.give_up();
      run->err.give_up();
    } else {
      run->running->signal(signo);
    }
  }
}

// ---- from beginning to end ------------------------------------------------------------------------------------------------

task<int> run_exec(asio::io_context& io, exec_options options) {
  auto listeners = listeners_for(io, options);
  auto container = container_for(io, options, listeners);
  const auto run = std::make_shared<exec_run>(io, std::move(options), std::move(listeners), std::move(container));
  listen_for(run->signals, {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP});
  auto running = run_beside(run, work(run), pass_signals_on(run));
  const auto failure = co_await failure_of(std::move(running));
  if (run->pulls.display) run->pulls.display->hide();
  run->running.reset();
  const auto ending = co_await failure_of(end_place(run->place, run->where));
  std::string message = "cancelled";
  if (failure) {
    run->code = exit_own_failure;
    message = message_of(failure);
    print_error("exec", message);
  } else if (ending) {
    print_error("exec", message_of(ending));  // the command's own end is known, and stands
  }
  if (!run->told_result) {
    auto line = run->events.failure(run->code, message);
    co_await write_event(run, std::move(line));
  }
  const bool interrupted = run->interrupts > 0 && run->code == 128 + SIGINT;
  if (interrupted) run->code = ends_by_signal + SIGINT;
  co_return run->code;
}

}  // namespace

task<int> exec_command(asio::io_context& io, words arguments) {
  auto options = parse_exec_options(arguments);
  if (options.help) return show_help(exec_help);
  if (options.isolation) {
    for (const std::string& line : idle_protections(*options.isolation, options.cwd)) print_error("exec", line);
  }
  return run_exec(io, std::move(options));
}

}  // namespace berth::cli
