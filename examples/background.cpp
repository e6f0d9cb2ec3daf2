// Starts a server that goes on by itself, waits until it can be used, uses it, and ends it.

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

berth::task<void> serve(berth::context place) {
  auto here = co_await place.spawn();
  // With a key it is started once, however often this is called.
  auto what =
      berth::argv("python3", "-u", "-m", "http.server", "--bind", "127.0.0.1", "0").merge_stderr().key("server");
  auto server = co_await place.exec_background(here, what);

  // It takes a free port and tells which. Nobody needs to read on: its output goes to a log.
  auto line = co_await server.wait_for_output(berth::output_pattern::regex("port [0-9]+ "), 20s);
  const std::string port = line ? line->text().substr(5) : "0";
  const bool listens = co_await server.wait_for_port(static_cast<std::uint16_t>(std::stoi(port)), 20s);
  std::cout << (listens ? "it listens\n" : "it does not listen\n");

  const std::string ask = "python3 -c 'import urllib.request as r; r.urlopen(\"http://127.0.0.1:" + port + "\")'";
  co_await place.exec(here, ask);
  co_await server.wait_for_output("GET / ", 20s);
  std::cout << "its last words: " << server.tail(berth::output_stream::std_out, 24).bytes();

  const auto status = co_await server.kill();
  std::cout << berth::describe(status) << '\n';
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, serve(berth::make_process_context(io)), rethrow);
  io.run();
}
