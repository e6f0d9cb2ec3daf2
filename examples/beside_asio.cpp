// A TCP server that was there before: it owns the io_context, its signals and its connections. Berth is a guest on the same
// io_context: every connection gets the output of a command, written on as it comes. Try it with
//
//   beside_asio 7777 &
//   nc 127.0.0.1 7777
//
// INT or TERM ends it; commands that still run end with it.

#include <berth/process_context.hpp>

#include <asio/buffer.hpp>
#include <asio/co_spawn.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/signal_set.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <csignal>
#include <cstdlib>
#include <exception>
#include <iostream>

using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;

// Not reading the process while the socket is full holds the command up: back-pressure from the client to the command.
// A client that goes away makes the write throw; the process is destroyed with this frame, and its tree is killed.
berth::task<void> serve(berth::context place, berth::handle here, tcp::socket client) {
  auto process = co_await place.exec_stream(here, "for i in 1 2 3; do uptime; sleep 1; done");
  while (auto piece = co_await process.next()) {
    auto bytes = asio::buffer(piece->bytes());
    co_await asio::async_write(client, bytes, asio::use_awaitable);
  }
}

void tell(std::exception_ptr failure) {
  try {
    if (failure) std::rethrow_exception(failure);
  } catch (const std::exception& caught) {
    std::cerr << "connection: " << caught.what() << '\n';
  }
}

berth::task<void> accept_all(berth::context place, berth::handle here, tcp::acceptor& acceptor) {
  for (;;) {
    auto client = co_await acceptor.async_accept(asio::use_awaitable);
    asio::co_spawn(acceptor.get_executor(), serve(place, here, std::move(client)), tell);
  }
}

// Once destroy has returned, no command is left, so every connection ends, and with the last of them io.run().
berth::task<void> run(berth::context place, tcp::acceptor& acceptor, asio::signal_set& signals) {
  auto here = co_await place.spawn();
  co_await (accept_all(place, here, acceptor) || signals.async_wait(asio::use_awaitable));
  co_await place.destroy(here);
}

int main(int argc, char** argv) {
  const int port = argc > 1 ? std::atoi(argv[1]) : 0;
  asio::io_context io(1);
  asio::signal_set signals(io, SIGINT, SIGTERM);
  tcp::endpoint endpoint(asio::ip::address_v4::loopback(), static_cast<unsigned short>(port));
  tcp::acceptor acceptor(io, endpoint);
  std::cout << "listening on 127.0.0.1:" << acceptor.local_endpoint().port() << std::endl;

  asio::co_spawn(io, run(berth::make_process_context(io), acceptor, signals), tell);
  io.run();
}
