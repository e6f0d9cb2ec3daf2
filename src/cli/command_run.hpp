#pragma once
/// What the subcommands share that work in a place, or run one command there and pass on what it says.

#include "cli/standard_stream.hpp"
#include "core/task_group.hpp"

#include <berth/context.hpp>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <memory>
#include <optional>

namespace berth::cli {

/// A place, and the coroutines that run beside each other for it.
struct place_run {
  place_run(asio::io_context& io, context kind);

  context place;
  std::optional<handle> where;
  standard_stream out;
  asio::signal_set signals;
  task_group group;
  bool finished = false;
};

/// The same with one command in it.
struct command_run : place_run {
  using place_run::place_run;

  std::optional<process> running;
};

/// A command that did not start has no pid, and leaves our standard input to whoever comes next. In a place that knows nothing of
/// processes none has one.
bool has_begun(const command_run& run);

/// At the end of the work, whatever happened in it, the loop that waits for signals comes to its end too.
struct end_of_work {
  place_run& run;
  ~end_of_work() {
    run.finished = true;
    run.signals.cancel();
  }
};

/// Runs both until the work has ended. A failure of either is thrown, and ends the other.
task<void> run_beside(std::shared_ptr<place_run> run, task<void> work, task<void> signal_loop);

/// Stops us as control Z would have, in the way that the shell waits for. Returns when we go on.
void stop_ourselves(asio::signal_set& signals);

}  // namespace berth::cli
