#pragma once
// The owner of coroutines that run at the same time: the only place that starts any.

#include "berth/task.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <cstddef>
#include <memory>

namespace berth {

/// Runs coroutines concurrently on one executor and waits for them.
///
/// The first child that fails cancels the others, and `join()` throws its error. A child that ends with
/// `operation_aborted` (or `errc::cancelled`) after the group was cancelled has not failed.
///
/// A group that was cancelled or has failed stays so: later children are dropped before they start.
///
/// Life: destroying a group that was not joined cancels its children and leaves them to end by themselves; they need
///       the io_context for it, not the group. The group may outlive the io_context.
class task_group {
 public:
  explicit task_group(asio::any_io_executor executor);
  task_group(task_group&&) noexcept;
  task_group& operator=(task_group&&) = delete;
  ~task_group();

  /// Starts a child. On the thread of the executor it runs at once, up to where it first waits.
  void spawn(task<void> child);

  /// Asks all children to end. May be called by a child.
  void cancel();

  /// Waits until no child is left, including those that are spawned meanwhile, then throws the first failure; only
  /// one join gets it.
  ///
  /// Cancel: cancels the children, waits until they have ended, and throws `operation_aborted`, or the failure if
  ///         there is one.
  task<void> join();

  /// Waits until no child is left or the time has passed, and says whether all have ended. Neither throws what the
  /// children threw nor cancels them, not even when it is cancelled itself.
  task<bool> ended_by(std::chrono::steady_clock::time_point deadline);

  /// Throws the first failure, if there is one that nobody has got.
  void throw_failure();

  /// Children that have not ended.
  std::size_t size() const noexcept;

  const asio::any_io_executor& get_executor() const noexcept;

 private:
  struct child;
  struct state;
  class on_end;

  static task<void> join_all(std::shared_ptr<state> self);
  static task<bool> wait_until(std::shared_ptr<state> self, std::chrono::steady_clock::time_point deadline);

  std::shared_ptr<state> state_;
};

}  // namespace berth
