#pragma once
/// One request and its response on one connection.

#include "core/task_group.hpp"
#include "http/http_error.hpp"
#include "http/pool.hpp"
#include "http/request.hpp"
#include "http/response_reader.hpp"
#include "http/upload.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>

namespace berth::http {

/// How far a request has come, for who sees only its deadline pass.
struct request_progress {
  phase at = phase::connect;
  bool may_have_arrived = false;
};

/// What is sent.
struct outgoing {
  request_head head = {};
  body_framing framing = {};
  std::string bytes = {};
  std::unique_ptr<byte_source> source = {};
  bool expects_continue = false;
};

/// Owns the connection until the response has ended; then gives it back to the pool, or closes it where it cannot be used again.
///
/// Life: destroying it closes the connection and ends the sending of the body.
class exchange {
 public:
  exchange(asio::any_io_executor executor, connection_lease lease, std::string shown, std::string method,
           std::chrono::milliseconds idle, std::shared_ptr<request_progress> progress);

  /// Sends, and waits for the final head, 101 too. A body that is long goes on being sent meanwhile, until the server refuses it.
  /// Errors: http_error in phase write, read, protocol or tls; those of the source of the body.
  static task<void> begin(std::shared_ptr<exchange> self, outgoing what);

  /// The next piece of the response's body; empty at its end.
  static task<std::string> next(std::shared_ptr<exchange> self);

  /// Takes the connection as it is, and what was read too far.
  stream_ptr detach();

  const response_head& head() const noexcept { return reader_.head(); }
  const headers& trailers() const noexcept { return reader_.trailers(); }
  const response_reader& reader() const noexcept { return reader_; }
  bool reused() const noexcept { return reused_; }
  /// Has the server said anything?
  bool answered() const noexcept { return reader_.started(); }
  const std::string& shown() const noexcept { return shown_; }
  const stream_ptr& stream() const noexcept { return lease_.stream(); }
  /// From now on it may be silent for ever, and the pool counts it no more.
  void become_stream() noexcept {
    idle_ = std::chrono::milliseconds::zero();
    lease_.leave_pool();
  }

 private:
  using event = response_reader::event;

  static task<void> send(std::shared_ptr<exchange> self, outgoing what);
  static task<bool> wants_body(std::shared_ptr<exchange> self);
  static task<void> write(std::shared_ptr<exchange> self, std::string bytes);
  static task<event> next_event(std::shared_ptr<exchange> self);
  static task<void> receive(std::shared_ptr<exchange> self);
  static task<std::size_t> read_within_idle(std::shared_ptr<exchange> self);
  bool is_streaming() const noexcept;
  void end();
  void note_progress(phase at);
  bool may_have_arrived() const noexcept;
  [[noreturn]] void fail(phase at, std::error_code code, std::string why, std::string remote = {}) const;

  connection_lease lease_;
  std::string shown_;
  response_reader reader_;
  std::chrono::milliseconds idle_;
  std::shared_ptr<request_progress> progress_;
  std::string buffer_;
  bool reused_ = false;
  bool has_final_ = false;
  bool ended_ = false;
  bool unsent_ = false;
  std::uint64_t written_before_ = 0;
  std::size_t head_size_ = 0;
  std::shared_ptr<upload_state> upload_;
  task_group group_;  // last: its tasks end before the rest goes
};

}  // namespace berth::http
