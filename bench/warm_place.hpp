#pragma once
/// A context on this host with one warm handle, driven from plain code, and the clock of the benchmarks.

#include <berth/context.hpp>

#include <asio/io_context.hpp>

#include <chrono>
#include <vector>

namespace berth::bench {

using clock = std::chrono::steady_clock;

double micros_since(clock::time_point begin);

class warm_place {
 public:
  warm_place();
  warm_place(const warm_place&) = delete;
  ~warm_place();

  const context& place() const noexcept { return place_; }
  const handle& where() const noexcept { return where_; }

  /// Runs the coroutines side by side until all have ended; throws the first failure.
  void run(std::vector<task<void>> works);
  void run(task<void> work);

 private:
  asio::io_context io_;
  context place_;
  handle where_;
};

/// The place of this process, made when it is first asked for.
warm_place& shared_warm_place();

}  // namespace berth::bench
