#include "cli/shell_command.hpp"

#include "cli/chosen_ports.hpp"
#include "cli/command_run.hpp"
#include "cli/container_place.hpp"
#include "cli/exec_report.hpp"
#include "cli/isolation_options.hpp"
#include "cli/orderly_end.hpp"
#include "cli/raw_terminal.hpp"
#include "cli/shell_options.hpp"
#include "cli/stdin_pump.hpp"
#include "core/compat.hpp"

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

// How long the last words of a shell that we ended may take, where its reader is slow.
constexpr auto last_words_time = 500ms;
// What another signal needs to reach us.
constexpr auto hearing_time = 20ms;
// A stop that stops us not: TTIN is ignored, or nobody is there who could bring us to the foreground.
constexpr int most_stops = 100;

process_context_options context_options(const shell_options& given) {
  process_context_options options;
  options.inherit_env = given.inherit_env;
  options.isolation = given.isolation;
  return options;
}

std::optional<docker_context> container_for(asio::io_context& io, const shell_options& given,
                                            std::shared_ptr<pull_display> pulls) {
  if (!given.container) return std::nullopt;
  return make_container_context(io, *given.container, "shell", std::move(pulls));
}

context place_for(asio::io_context& io, const shell_options& given, const std::optional<docker_context>& container) {
  if (container) return *container;
  return make_process_context(io, context_options(given));
}

/// Everything of one `berth shell`; shared by the coroutines that run beside each other.
struct shell_run : command_run {
  shell_run(asio::io_context& io, shell_options given, std::shared_ptr<pull_display> display,
            std::optional<docker_context> its_container)
      : command_run(io, place_for(io, given, its_container)),
        options(std::move(given)),
        container(std::move(its_container)),
        pulls(std::move(display)),
        terminal(STDIN_FILENO) {}

  shell_options options;
  std::optional<docker_context> container;  ///< `place`, where it is one
  std::shared_ptr<pull_display> pulls;
  raw_terminal terminal;
  int ended_by = 0;  // the signal for which we end the shell
  bool has_terminal = false;
  bool is_stopping = false;
};

// ---- the terminal that we are in ----------------------------------------------------------------------------------------

/// As a job in the background we are stopped until somebody brings us to the foreground, like every program that reads keys.
void wait_for_foreground() {
  for (int stops = 0; is_in_background(STDIN_FILENO); ++stops) {
    if (stops == most_stops) throw usage_error("the terminal belongs to another job, and we are in the background");
    ::kill(0, SIGTTIN);
  }
}

void take_terminal(shell_run& run) {
  wait_for_foreground();
  run.terminal.enter();
  run.has_terminal = true;
}

void fit(shell_run& run) {
  if (!run.running) return;
  const auto size = size_of_terminal(STDOUT_FILENO);
  run.running->resize(size.columns(), size.rows());
}

/// In the background we stop again: whoever continued us there wants us to wait. A signal that came with the one that continued us is
/// heard before.
task<void> stop_again(std::shared_ptr<shell_run> run) {
  asio::steady_timer heard(run->place.get_executor(), hearing_time);
  co_await heard.async_wait(asio::use_awaitable);
  if (run->ended_by == 0 && is_in_background(STDIN_FILENO)) ::kill(0, SIGTTIN);
  run->is_stopping = false;
}

/// We were stopped, by whatever, and go on.
void come_back(std::shared_ptr<shell_run> run) {
  if (run->ended_by != 0 || !run->has_terminal) return;
  if (!is_in_background(STDIN_FILENO)) {
    run->terminal.enter();
    fit(*run);
  } else if (!std::exchange(run->is_stopping, true)) {
    run->group.spawn(stop_again(run));
  }
}

// ---- the shell ------------------------------------------------------------------------------------------------------------

/// Ends it as the loss of its terminal does; what it still shows is shown, unless that takes too long.
task<void> hang_up(std::shared_ptr<shell_run> run) {
  co_await run->running->kill();
  asio::steady_timer patience(run->place.get_executor(), last_words_time);
  co_await patience.async_wait(asio::use_awaitable);
  run->out.give_up();
}

void end_for(std::shared_ptr<shell_run> run, int signo) {
  const bool is_first = run->ended_by == 0;
  if (is_first) run->ended_by = signo;
  if (!run->running)
    run->group.cancel();
  else if (is_first)
    run->group.spawn(hang_up(run));
  else
    run->out.give_up();
}

task<void> type_keys(std::shared_ptr<shell_run> run) {
  const bool terminal_is_gone = co_await copy_stdin(*run->running, "shell");
  if (terminal_is_gone) end_for(run, SIGHUP);
}

/// Gives the failure of our own output.
task<std::error_code> show_all(std::shared_ptr<shell_run> run) {
  for (;;) {
    auto piece = co_await run->running->next();
    if (!piece) co_return std::error_code();
    auto bytes = std::move(*piece).bytes();
    const auto failure = co_await try_write(run->out, std::move(bytes));
    if (failure) co_return failure;
  }
}

task<void> run_shell_inside(std::shared_ptr<shell_run> run) {
  const end_of_work at_end{*run};
  spawn_options at;
  if (run->options.isolation) at.cwd(run->options.cwd);  // what may be written
  auto where = co_await run->place.spawn(std::move(at));
  run->where = std::move(where);
  run->pulls->finish();
  if (run->container) {
    auto asking = chosen_ports(*run->container, *run->where, run->options.container->ports);
    const auto chosen = co_await std::move(asking);
    tell_ports("shell", chosen);
    take_terminal(*run);
  }
  auto what = make_shell(run->options, size_of_terminal(STDOUT_FILENO));
  auto started = co_await run->place.exec_stream(*run->where, std::move(what));
  run->running.emplace(std::move(started));
  if (has_begun(*run)) {
    fit(*run);  // it may have changed meanwhile
    run->group.spawn(type_keys(run));
  }
  const auto failure = co_await show_all(run);
  if (failure) {
    co_await run->running->kill();
    throw std::system_error(failure, "output");
  }
  run->group.cancel();
}

// ---- signals ------------------------------------------------------------------------------------------------------------

task<void> heed_signals(std::shared_ptr<shell_run> run) {
  constexpr auto token = as_tuple(asio::use_awaitable);
  while (!run->finished) {
    const auto result = co_await run->signals.async_wait(token);
    if (std::get<0>(result)) continue;
    const int signo = std::get<1>(result);
    if (signo == SIGWINCH) {
      fit(*run);
    } else if (signo == SIGCONT) {
      come_back(run);
    } else if (signo == SIGTSTP) {
      run->terminal.leave();
      run->pulls->hide();
      stop_ourselves(run->signals);
      come_back(run);
    } else {
      end_for(run, signo);
    }
  }
}

// ---- from beginning to end ------------------------------------------------------------------------------------------------

void require_terminal() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO}) {
    if (::isatty(fd) == 1) continue;
    const auto* const stream = fd == STDIN_FILENO ? "input" : "output";
    throw usage_error(fmt::format("standard {} is no terminal; without one, use 'berth exec'", stream));
  }
}

int code_for(int signo) {
  if (signo == 0) return exit_own_failure;
  return signo == SIGINT ? ends_by_signal + SIGINT : 128 + signo;
}

/// How it ended, as our exit code, and a line where that does not say it.
int conclude(const shell_run& run) {
  if (!run.running) return code_for(run.ended_by);
  const auto status = run.running->status().value_or(exit_status());
  tell_survivors("shell", run.running->survivors());
  if (run.ended_by != 0 && status.reason() == end_reason::cancelled) return code_for(run.ended_by);
  tell_status("shell", status);
  return status.code();
}

/// Before the terminal is raw.
void warn_of_idle(const shell_options& options) {
  if (!options.isolation) return;
  const auto tell = [](log_level level, std::string_view text) {
    if (level == log_level::warning) print_error("shell", text);
  };
  for (const std::string& line : idle_protections(*options.isolation, options.cwd, tell)) print_error("shell", line);
}

task<int> run_shell(asio::io_context& io, shell_options options) {
  require_terminal();
  wait_for_foreground();
  warn_of_idle(options);
  auto display = std::make_shared<pull_display>("shell");
  auto container = container_for(io, options, display);
  const auto run = std::make_shared<shell_run>(io, std::move(options), std::move(display), std::move(container));
  listen_for(run->signals, {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGCONT, SIGWINCH});
  // A pull takes its time, and control C shall end it: in a container the keys are ours until it is there.
  if (!run->options.container) take_terminal(*run);
  auto running = run_beside(run, run_shell_inside(run), heed_signals(run));
  const auto failure = co_await failure_of(std::move(running));
  run->terminal.leave();
  run->pulls->hide();
  if (failure) print_error("shell", message_of(failure));
  const int code = failure ? code_for(run->ended_by) : conclude(*run);
  run->running.reset();
  const auto ending = co_await failure_of(end_place(run->place, run->where));
  if (ending && !failure) print_error("shell", message_of(ending));  // the shell's own end is known, and stands
  co_return code;
}

}  // namespace

task<int> shell_command(asio::io_context& io, words arguments) {
  auto options = parse_shell_options(arguments);
  if (options.help) return show_help(shell_help);
  return run_shell(io, std::move(options));
}

}  // namespace berth::cli
