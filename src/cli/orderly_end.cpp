#include "cli/orderly_end.hpp"

#include "core/deadline.hpp"

#include <csignal>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

// Ending a place takes milliseconds; one that does not answer must not keep us.
constexpr auto end_limit = 10s;

}  // namespace

void listen_for(asio::signal_set& signals, std::initializer_list<int> numbers) {
  for (const int signo : numbers) {
    struct sigaction now {};
    if (::sigaction(signo, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    signals.add(signo);
  }
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

task<void> end_place(context place, std::optional<handle> where) {
  if (!where) co_return;
  auto ending = place.destroy(*where);
  co_await with_deadline(std::move(ending), end_limit);
}

}  // namespace berth::cli
