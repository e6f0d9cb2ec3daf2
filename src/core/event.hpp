#pragma once
// A notification that coroutines wait for, with or without a deadline.

#include "berth/task.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <memory>

namespace berth {

/// Wakes coroutines that wait on one executor.
///
/// - `notify()` wakes everyone who waits at that moment.
/// - A `notify()` that nobody waits for is remembered, and the next wait returns at once and uses it up. One is
///   remembered, not a count: several of them before a wait are one.
/// - So a loop `while (!condition) co_await event.wait();` never misses a change that was made before its `notify()`.
/// - A wait that was both notified and cancelled returns true; the cancellation then shows at the caller's next await.
///
/// Life: waiting does not need the event itself, only its state: destroying it leaves waiters waiting, until their
///       deadline or cancellation.
class event {
 public:
  using clock = std::chrono::steady_clock;

  explicit event(asio::any_io_executor executor);
  event(event&&) noexcept;
  event& operator=(event&&) noexcept;
  ~event();

  void notify();

  /// Returns whether it was notified (true) or the time passed (false). A remembered notification wins over a time
  /// that already passed.
  task<bool> wait_until(clock::time_point deadline);
  task<bool> wait_for(clock::duration time);
  task<void> wait();

 private:
  struct state;
  struct waiter;

  static task<bool> wait_on(std::shared_ptr<state> self, clock::time_point deadline);
  static task<void> wait_forever(std::shared_ptr<state> self);

  std::shared_ptr<state> state_;
};

}  // namespace berth
