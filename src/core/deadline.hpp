#pragma once
// Bounds on how long an operation takes, and cleanup that must happen whatever else does.

#include "berth/task.hpp"

#include <asio/this_coro.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <utility>

namespace berth {

/// Runs the work, and throws `errc::timeout` when it has not ended in time.
///
/// When the time has passed the work is cancelled, and this returns once it has ended: nothing of it is left running.
/// A result that the work gives in spite of that is returned, not lost. Its own error comes at once.
task<void> with_deadline(task<void> work, std::chrono::steady_clock::duration time);

/// The same, for who has to know whose timeout it is: false when the time has passed. What the work throws comes as it
/// is, a timeout of its own too.
task<bool> ends_within(task<void> work, std::chrono::steady_clock::duration time);

template <class T>
task<void> keep_result(task<T> work, std::shared_ptr<std::optional<T>> result) {
  result->emplace(co_await std::move(work));
}

template <class T>
task<T> with_deadline(task<T> work, std::chrono::steady_clock::duration time) {
  auto result = std::make_shared<std::optional<T>>();
  auto kept = keep_result(std::move(work), result);
  co_await with_deadline(std::move(kept), time);
  co_return std::move(**result);
}

/// Runs work that a cancellation of the caller reaches only after this time, for what must not be left half known.
///
/// Work that ends within it has its result returned, not lost: the cancellation shows at the caller's next await.
task<void> with_patience(task<void> work, std::chrono::steady_clock::duration patience);

template <class T>
task<T> with_patience(task<T> work, std::chrono::steady_clock::duration patience) {
  auto result = std::make_shared<std::optional<T>>();
  auto kept = keep_result(std::move(work), result);
  co_await with_patience(std::move(kept), patience);
  co_return std::move(**result);
}

/// From here to the end of the next `shielded()`, a cancellation of this coroutine is kept and not thrown.
///
/// A cancelled coroutine cannot await anything: Asio throws before the awaited function has begun. So cleanup that
/// runs where a cancellation may have happened needs both lines:
///
///     co_await hold_cancellation();
///     co_await shielded(2s, remove_container(id));
inline auto hold_cancellation() { return asio::this_coro::throw_if_cancelled(false); }

/// Runs cleanup that a cancellation of the caller does not reach, for no longer than the bound.
///
/// When the bound has passed the cleanup is cancelled, waited for, and `errc::timeout` is thrown; its own error is
/// thrown as it is. The caller's cancellation, before or meanwhile, shows at the caller's next await.
task<void> shielded(std::chrono::steady_clock::duration bound, task<void> cleanup);

/// Runs the work, then the cleanup, shielded, whether the work returned, threw or was cancelled. An error of the
/// cleanup shows only when the work had none.
///
/// Neither runs if the caller was cancelled before.
task<void> with_cleanup(task<void> work, std::chrono::steady_clock::duration bound, task<void> cleanup);

}  // namespace berth
