// Three ways to stop a command in time. Each ends everything that the command started, and keeps what it printed.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <exception>
#include <iostream>

using namespace std::chrono_literals;
using namespace asio::experimental::awaitable_operators;

const char* const endless = "echo begun; sleep 1000 & sleep 1000";

void tell(const berth::exec_result& result) { std::cout << result.std_out << berth::describe(result.status) << '\n'; }

// A deadline of the command. The result says `timed_out`; the exit code is 124.
berth::task<void> by_deadline(berth::context place, berth::handle here) {
  auto result = co_await place.exec(here, berth::command(endless).timeout(300ms));
  tell(result);
}

// A decision of the program, for instance because of what the command printed.
berth::task<void> by_kill(berth::context place, berth::handle here) {
  auto process = co_await place.exec_stream(here, endless);
  auto piece = co_await process.next();
  auto status = co_await process.kill();
  std::cout << piece->bytes() << berth::describe(status) << '\n';
}

// Cancellation of a whole piece of work, which may consist of many commands. exec still returns, with the reason `cancelled`; the
// await after it throws, so that the work ends there.
berth::task<void> work(berth::context place, berth::handle here) {
  auto result = co_await place.exec(here, endless);
  tell(result);
}

berth::task<void> by_cancellation(berth::context place, berth::handle here) {
  auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, 300ms);
  co_await (work(place, here) || timer.async_wait(asio::use_awaitable));
}

berth::task<void> run(berth::context place) {
  auto here = co_await place.spawn();
  co_await by_deadline(place, here);
  co_await by_kill(place, here);
  co_await by_cancellation(place, here);
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, run(berth::make_process_context(io)), rethrow);
  io.run();
}
