// Types into a shell in a terminal, as a person would, and shows what it shows.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <iostream>
#include <string_view>

using namespace std::chrono_literals;

berth::task<void> type(berth::context place) {
  auto here = co_await place.spawn();
  const auto show = [](std::string_view bytes) { std::cout << bytes << std::flush; };
  // Without run() it is the login shell of whoever runs this.
  auto shell = berth::argv("/bin/sh", "-i").env("PS1", "> ").env("ENV", "");
  auto options = berth::terminal_options().size(100, 30).run(shell).on_data(show);
  auto terminal = co_await place.open_terminal(here, options);

  auto prompt = co_await terminal.wait_for_output("> ", 10s);
  const auto shown = prompt ? prompt->end() : 0;
  co_await terminal.write("stty size\n");
  // The next prompt, not the one that was there already. What is typed is echoed, and would be found as well.
  co_await terminal.wait_for_output(berth::output_pattern("> ").from(shown), 10s);
  terminal.resize(80, 24);
  co_await terminal.write("stty size; exit\n");
  const auto status = co_await terminal.exited();
  std::cout << berth::describe(status) << '\n';
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, type(berth::make_process_context(io)), rethrow);
  io.run();
}
