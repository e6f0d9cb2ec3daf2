#include "cli/command_run.hpp"

#include "cli/orderly_end.hpp"

#include <unistd.h>

#include <csignal>
#include <exception>
#include <utility>

namespace berth::cli {

place_run::place_run(asio::io_context& io, context kind)
    : place(std::move(kind)),
      out(io.get_executor(), STDOUT_FILENO, standard_stream::direction::out),
      signals(io),
      group(io.get_executor()) {}

task<void> run_beside(std::shared_ptr<place_run> run, task<void> work, task<void> signal_loop) {
  run->group.spawn(std::move(work));
  const auto failure = co_await failure_of(std::move(signal_loop));
  if (failure) run->group.cancel();
  co_await run->group.join();
  if (failure) std::rethrow_exception(failure);
}

bool has_begun(const command_run& run) { return run.running->pid() != 0 || !run.place.can().signals; }

void stop_ourselves(asio::signal_set& signals) {
  signals.remove(SIGTSTP);
  ::raise(SIGTSTP);  // as the shell expects it, which waits for us to stop
  signals.add(SIGTSTP);
}

}  // namespace berth::cli
