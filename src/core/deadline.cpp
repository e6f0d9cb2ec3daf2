#include "core/deadline.hpp"

#include "berth/error.hpp"
#include "core/task_group.hpp"

#include <asio/error.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <system_error>

namespace berth {
namespace {

using clock = std::chrono::steady_clock;

clock::time_point after(clock::duration time) {
  const auto now = clock::now();
  return time > clock::time_point::max() - now ? clock::time_point::max() : now + time;
}

task<void> mark_done(task<void> work, std::shared_ptr<bool> done) {
  co_await std::move(work);
  *done = true;
}

/// Waits for the children whatever becomes of the caller; cancels them at the deadline and says whether it had to.
/// The caller's cancellations must be held.
task<bool> outlast(task_group& group, clock::time_point deadline) {
  bool late = false;
  while (group.size() > 0) {
    try {
      const bool ended = co_await group.ended_by(deadline);
      if (ended) break;
    } catch (const std::system_error&) {
      continue;  // the caller was cancelled; it will see that itself
    }
    late = true;
    deadline = clock::time_point::max();
    group.cancel();
  }
  co_return late;
}

}  // namespace

task<bool> ends_within(task<void> work, clock::duration time) {
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  task_group group(co_await asio::this_coro::executor);
  auto done = std::make_shared<bool>(false);
  group.spawn(mark_done(std::move(work), done));
  bool ended = false;
  bool cancelled = false;
  try {
    ended = co_await group.ended_by(after(time));
  } catch (const std::system_error&) {
    cancelled = true;
  }
  if (!ended) {
    group.cancel();
    co_await asio::this_coro::throw_if_cancelled(false);
    (void)co_await outlast(group, clock::time_point::max());
    co_await asio::this_coro::throw_if_cancelled(throws);
  }
  if (*done) co_return true;
  if (!ended && !cancelled) co_return false;
  group.throw_failure();
  throw std::system_error(make_error_code(asio::error::operation_aborted));
}

task<void> with_deadline(task<void> work, clock::duration time) {
  const bool ended = co_await ends_within(std::move(work), time);
  if (!ended) throw error(errc::timeout, "deadline passed");
}

task<void> with_patience(task<void> work, clock::duration patience) {
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  task_group group(co_await asio::this_coro::executor);
  auto done = std::make_shared<bool>(false);
  group.spawn(mark_done(std::move(work), done));
  bool ended = false;
  try {
    ended = co_await group.ended_by(clock::time_point::max());
  } catch (const std::system_error&) {  // the caller was cancelled
  }
  if (!ended) {
    co_await asio::this_coro::throw_if_cancelled(false);
    (void)co_await outlast(group, after(patience));
    co_await asio::this_coro::throw_if_cancelled(throws);
  }
  if (*done) co_return;
  group.throw_failure();
  throw std::system_error(make_error_code(asio::error::operation_aborted));
}

task<void> shielded(clock::duration bound, task<void> cleanup) {
  co_await asio::this_coro::throw_if_cancelled(false);
  task_group group(co_await asio::this_coro::executor);
  auto done = std::make_shared<bool>(false);
  group.spawn(mark_done(std::move(cleanup), done));
  const bool late = co_await outlast(group, after(bound));
  co_await asio::this_coro::throw_if_cancelled(true);
  if (*done) co_return;
  if (late) throw error(errc::timeout, "cleanup took too long");
  group.throw_failure();
}

task<void> with_cleanup(task<void> work, clock::duration bound, task<void> cleanup) {
  std::exception_ptr failure;
  try {
    co_await std::move(work);
  } catch (...) {
    failure = std::current_exception();
  }
  std::exception_ptr cleanup_failure;
  co_await hold_cancellation();
  try {
    co_await shielded(bound, std::move(cleanup));
  } catch (...) {
    cleanup_failure = std::current_exception();
  }
  if (failure) std::rethrow_exception(failure);
  if (cleanup_failure) std::rethrow_exception(cleanup_failure);
}

}  // namespace berth
