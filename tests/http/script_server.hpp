#pragma once
/// A server that does what a test says, byte by byte, well or badly.

#include <berth/task.hpp>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

/// The server's end of one connection.
class script_peer {
 public:
  explicit script_peer(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {}

  /// Reads until the text has come and gives all up to its end; empty if the client closes before.
  task<std::string> read_until(std::string end);
  /// The head of a request.
  task<std::string> read_head() { return read_until("\r\n\r\n"); }
  /// Exactly so many bytes, or fewer if the client closes before.
  task<std::string> read_bytes(std::size_t count);
  /// Until the client has closed its side.
  task<std::string> read_to_end();
  /// Errors are swallowed: the client may be gone.
  task<void> write(std::string bytes);
  /// One byte a segment.
  task<void> write_slowly(std::string bytes);
  void shutdown_write();
  void close();
  /// Closes with a reset instead of an end.
  void reset();

 private:
  task<bool> more();

  asio::ip::tcp::socket socket_;
  std::string pending_;
};

using script_peer_ptr = std::shared_ptr<script_peer>;

/// Listens on a port of 127.0.0.1 until it is destroyed, which also closes its connections.
class script_server {
 public:
  /// Called for each connection, with its number from 0 on. A connection is closed when its script ends.
  using script = std::function<task<void>(script_peer_ptr peer, int number)>;

  script_server(asio::io_context& io, script what);
  ~script_server();
  script_server(const script_server&) = delete;
  script_server& operator=(const script_server&) = delete;

  std::uint16_t port() const;
  /// "http://127.0.0.1:PORT/..."
  std::string url(std::string_view path) const;
  /// How many connections came.
  int connections() const;

 private:
  struct state;
  static task<void> accept_all(std::shared_ptr<state> self);
  static task<void> serve(std::shared_ptr<state> self, script_peer_ptr peer, int number);

  std::shared_ptr<state> state_;
};

/// A response with a length.
std::string response_text(std::string_view body, std::string_view fields = "", std::string_view status = "200 OK");

}  // namespace berth::test
