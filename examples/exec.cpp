// Runs one command on this host and tells what it printed and how it ended.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <iostream>

berth::task<void> greet(berth::context place) {
  auto here = co_await place.spawn();
  auto result = co_await place.exec(here, "echo hello from $(uname -s); echo oops >&2; exit 3");
  std::cout << "out: " << result.std_out << "err: " << result.std_err << berth::describe(result.status) << '\n';
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, greet(berth::make_process_context(io)), rethrow);
  io.run();
}
