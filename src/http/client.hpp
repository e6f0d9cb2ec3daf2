#pragma once
/// An HTTP/1.1 client.

#include "http/connect.hpp"
#include "http/pool.hpp"
#include "http/proxy.hpp"
#include "http/request.hpp"

#include <asio/any_io_executor.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace berth::http {

class exchange;

/// Makes one connection, on the executor of the one who awaits it; for ssh, whose child lives in a higher layer.
using dialer = std::function<task<stream_ptr>()>;

struct client_options {
  connect_options connect = {};
  pool_options pool = {};
  /// For https.
  tls_options tls = {};
  /// Default: what the environment says when the client is made.
  std::optional<proxy_rules> proxies = {};
  /// Every request goes to this socket file, whatever the host in its URL, which only becomes the field Host.
  std::string unix_socket = {};
  /// Every request goes over connections that this makes; within `connect.timeout`.
  dialer dial = {};
  /// Empty: no such field.
  std::string user_agent = "berth";
};

/// A response whose body comes as it is read. Reading it to its end lets the connection be used again.
///
/// Errors: of `next`: http_error: lost, protocol, timeout (nothing came for the request's idle timeout), and the same again.
/// Life:   destroying it before its end closes the connection. It may outlive the client.
class response_stream final : public byte_source {
 public:
  explicit response_stream(std::shared_ptr<exchange> from) : from_(std::move(from)) {}

  const response_head& head() const noexcept;
  int status() const noexcept { return head().status; }
  const headers& fields() const noexcept { return head().fields; }
  bool is_success() const noexcept { return head().is_success(); }
  /// Complete after the end of the body.
  const headers& trailers() const noexcept;

  /// The next piece; not calling it holds the sender back.
  task<std::string> next() override;
  /// The rest as a whole. Errors: limit_exceeded for more than `limit` bytes.
  task<std::string> rest(std::size_t limit);

 private:
  std::shared_ptr<exchange> from_;
};

/// What became of the wish to use a connection for something else than HTTP.
class upgrade_result {
 public:
  upgrade_result(response_head head, stream_ptr stream) : head_(std::move(head)), stream_(std::move(stream)) {}
  upgrade_result(response_head head, std::string refusal) : head_(std::move(head)), refusal_(std::move(refusal)) {}

  int status() const noexcept { return head_.status; }
  const response_head& head() const noexcept { return head_; }
  /// Null if the server refused. First gives what came with the head; no idle timeout holds any more. The pool does not count it.
  const stream_ptr& stream() const noexcept { return stream_; }
  /// The body of the refusal.
  const std::string& refusal() const noexcept { return refusal_; }

 private:
  response_head head_;
  stream_ptr stream_;
  std::string refusal_;
};

/// Sends requests. A status is no error, whatever it says.
///
/// A request on a connection that was kept and turns out to be closed is sent once more, on a new one, if it cannot have arrived
/// or its method is safe, and its body is no stream. Nothing else is repeated.
///
/// Errors: http_error; invalid_argument; what the source of a body throws.
/// Life:   destroying the client closes kept connections; requests under way and streams go on.
class client {
 public:
  /// Errors: invalid_argument for options that make no sense, and for a proxy in the environment that makes none.
  explicit client(asio::any_io_executor executor, client_options options = client_options());
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;
  ~client();

  /// The whole response, in memory. Errors also: limit_exceeded for a body beyond the request's limit.
  task<response> send(request what);

  /// The head; the body is read by the caller. While it is read, a body that is sent as a stream goes on being sent.
  task<std::unique_ptr<response_stream>> open(request what);

  /// Asks for the connection to become one of the protocol ("tcp" is Docker's). Given are 101, and 2xx without a length, as the Engine
  /// answers through proxies or when not asked to upgrade; if those come in chunks, the stream has the content of the chunks.
  task<upgrade_result> upgrade(request what, std::string protocol);

  /// Connections that are kept for later.
  std::size_t idle_connections() const noexcept;

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace berth::http
