#pragma once
/// An operation that runs beside the test's body and can be cancelled.

#include <berth/task.hpp>

#include "core/event.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace berth::test {

/// Starts the work at once. Destroying it before it has ended cancels it and lets it run out.
template <class T>
class running {
 public:
  running(asio::any_io_executor executor, task<T> work) : state_(std::make_shared<state>(executor)) {
    const auto on_end = [self = state_](std::exception_ptr failure) {
      self->failure = std::move(failure);
      self->ended = true;
      self->changed.notify();
    };
    asio::co_spawn(executor, keep(std::move(work), state_),
                   asio::bind_cancellation_slot(state_->signal.slot(), on_end));
  }
  running(running&&) = default;
  ~running() {
    if (state_) cancel();
  }

  /// What the cancellation of the awaiting coroutine would do.
  void cancel() {
    if (!state_->ended) state_->signal.emit(asio::cancellation_type::terminal);
  }

  bool ended() const { return state_->ended; }

  /// The result, or the exception that the work ended with. Only once.
  task<T> result() { return take(state_); }

 private:
  struct state {
    explicit state(const asio::any_io_executor& executor) : changed(executor) {}
    asio::cancellation_signal signal;
    event changed;
    bool ended = false;
    std::exception_ptr failure;
    std::optional<T> value;
  };

  static task<void> keep(task<T> work, std::shared_ptr<state> self) { self->value.emplace(co_await std::move(work)); }

  static task<T> take(std::shared_ptr<state> self) {
    while (!self->ended) co_await self->changed.wait();
    if (self->value) co_return std::move(*self->value);
    std::rethrow_exception(self->failure);
  }

  std::shared_ptr<state> state_;
};

template <class T>
running(asio::any_io_executor, task<T>) -> running<T>;

}  // namespace berth::test
