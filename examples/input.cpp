// A dialog with a command: writes a question to its standard input, reads the answer, asks again.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

// Reads on until a whole line has come. A piece of output is what one read gave; it knows nothing of lines.
berth::task<std::string> read_line(berth::process& from, std::string& rest) {
  for (;;) {
    const auto end = rest.find('\n');
    if (end != std::string::npos) {
      auto line = rest.substr(0, end);
      rest.erase(0, end + 1);
      co_return line;
    }
    auto piece = co_await from.next();
    if (!piece) co_return std::exchange(rest, "");
    rest += piece->bytes();
  }
}

berth::task<void> ask(berth::context place) {
  auto here = co_await place.spawn();
  auto calculator = berth::command("while read question; do echo \"$question = $(($question))\"; done").input_stream();
  auto process = co_await place.exec_stream(here, calculator);
  const std::vector<std::string> questions = {"6 * 7", "2 + 2"};
  std::string rest;
  for (const auto& question : questions) {
    co_await process.write(question + '\n');
    auto answer = co_await read_line(process, rest);
    std::cout << answer << '\n';
  }
  co_await process.close_stdin();
  auto status = co_await process.wait();
  std::cout << berth::describe(status) << '\n';
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, ask(berth::make_process_context(io)), rethrow);
  io.run();
}
