// Passes on the output of a command as it comes.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <iostream>

using namespace std::chrono_literals;

berth::task<void> follow(berth::context place) {
  auto here = co_await place.spawn();
  auto what = berth::command("for i in 1 2 3; do echo line $i; sleep 0.3; done").timeout(10s);
  auto process = co_await place.exec_stream(here, what);
  while (auto piece = co_await process.next()) {
    auto& to = piece->stream() == berth::output_stream::std_out ? std::cout : std::cerr;
    to << piece->bytes() << std::flush;
  }
  std::cout << berth::describe(*process.status()) << '\n';
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, follow(berth::make_process_context(io)), rethrow);
  io.run();
}
