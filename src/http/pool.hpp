#pragma once
/// Connections that are used more than once.

#include "berth/task.hpp"
#include "http/byte_stream.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>

namespace berth::http {

struct pool_options {
  /// Connections to one place at a time, those in use and those kept; further requests wait. At least 1.
  std::size_t per_host = 16;
  /// A connection that nobody used for so long is closed. Below what common servers grant (Node: 5 s) reuse is seldom refused.
  std::chrono::milliseconds idle = std::chrono::seconds(4);
};

struct pool_state;

/// The right to one connection to a place.
///
/// Life: destroying it closes the connection and lets the next one in.
class connection_lease {
 public:
  connection_lease() = default;
  connection_lease(connection_lease&&) noexcept = default;
  connection_lease& operator=(connection_lease&& other) noexcept;
  ~connection_lease();

  /// Null until a new connection was put in.
  const stream_ptr& stream() const noexcept { return stream_; }
  /// Was it used before?
  bool reused() const noexcept { return reused_; }
  void put(stream_ptr fresh) noexcept {
    stream_ = std::move(fresh);
    reused_ = false;
  }
  /// For the next one to use: only after a whole response that allows it.
  void give_back();
  /// The pool no longer counts the connection, and never gets it back.
  void leave_pool() noexcept;
  /// The same, and the connection is the caller's.
  stream_ptr detach();

 private:
  friend class connection_pool;
  connection_lease(std::shared_ptr<pool_state> pool, std::string place)
      : pool_(std::move(pool)), place_(std::move(place)) {}
  void end() noexcept;

  std::shared_ptr<pool_state> pool_;
  std::string place_;
  stream_ptr stream_;
  bool reused_ = false;
};

/// Keeps connections by place.
///
/// Life: destroying it closes what is kept; leases stay good, and what is given back then is closed. Those who wait get
///       errc::destroyed. While connections are kept a timer is pending in the io_context.
class connection_pool {
 public:
  connection_pool(asio::any_io_executor executor, pool_options options);
  connection_pool(connection_pool&&) noexcept = default;
  ~connection_pool();

  /// Waits its turn, and gives a kept connection that still seems good, or none: then the caller connects. With `fresh` none that was
  /// kept is given.
  /// Cancel: gives the turn to the next.
  task<connection_lease> take(std::string place, bool fresh = false);

  /// Kept connections, all places together.
  std::size_t idle() const noexcept;

 private:
  static task<connection_lease> take_from(std::shared_ptr<pool_state> self, std::string place, bool fresh);

  std::shared_ptr<pool_state> state_;
};

}  // namespace berth::http
