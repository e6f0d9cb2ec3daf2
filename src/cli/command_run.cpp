#include "cli/command_run.hpp"

#include "core/deadline.hpp"

#include <berth/process_context.hpp>

#include <unistd.h>

#include <csignal>
#include <utility>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

// Ending a place takes milliseconds; one that does not answer must not keep us.
constexpr auto end_limit = 10s;

}  // namespace

command_run::command_run(asio::io_context& io)
    : place(make_process_context(io)),
      out(io.get_executor(), STDOUT_FILENO, standard_stream::direction::out),
      signals(io),
      group(io.get_executor()) {}

void listen_for(asio::signal_set& signals, std::initializer_list<int> numbers) {
  for (const int signo : numbers) {
    struct sigaction now {};
    if (::sigaction(signo, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    signals.add(signo);
  }
}

task<void> run_beside(std::shared_ptr<command_run> run, task<void> work, task<void> signal_loop) {
  run->group.spawn(std::move(work));
  const auto failure = co_await failure_of(std::move(signal_loop));
  if (failure) run->group.cancel();
  co_await run->group.join();
  if (failure) std::rethrow_exception(failure);
}

void stop_ourselves(asio::signal_set& signals) {
  signals.remove(SIGTSTP);
  ::raise(SIGTSTP);  // as the shell expects it, which waits for us to stop
  signals.add(SIGTSTP);
}

task<void> end_place(std::shared_ptr<command_run> run) {
  run->running.reset();
  if (!run->where) co_return;
  auto ending = run->place.destroy(*run->where);
  co_await with_deadline(std::move(ending), end_limit);
}

task<std::exception_ptr> failure_of(task<void> work) {
  try {
    co_await std::move(work);
  } catch (...) {
    co_return std::current_exception();
  }
  co_return nullptr;
}

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& thrown) {
    return thrown.what();
  }
}

}  // namespace berth::cli
