#include "core/event.hpp"

#include "core/compat.hpp"

#include <asio/error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <cstddef>
#include <cstdint>
#include <system_error>
#include <utility>

namespace berth {

// All waiters share the timer, which stands at the earliest of their deadlines. Setting it anew aborts the waits that
// are under way; `arm` tells such a waiter from one that was cancelled.
struct event::state {
  explicit state(asio::any_io_executor executor) : timer(std::move(executor), clock::time_point::max()) {}

  void arm_for(clock::time_point deadline) {
    const bool alone = waiting == 1;
    const auto expiry = timer.expiry();
    if (deadline == expiry) return;
    if (!alone && deadline > expiry && expiry > clock::now()) return;
    ++arm;
    timer.expires_at(deadline);
  }

  asio::steady_timer timer;
  bool remembered = false;
  std::size_t waiting = 0;  // and not notified yet
  std::uint64_t notified = 0;
  std::uint64_t arm = 0;
};

struct event::waiter {
  explicit waiter(state& of) : of_(of), began_(of.notified) { ++of_.waiting; }
  waiter(const waiter&) = delete;
  waiter& operator=(const waiter&) = delete;
  ~waiter() {
    if (!notified()) --of_.waiting;
  }

  bool notified() const { return of_.notified != began_; }

 private:
  state& of_;
  std::uint64_t began_;
};

event::event(asio::any_io_executor executor) : state_(std::make_shared<state>(std::move(executor))) {}
event::event(event&&) noexcept = default;
event& event::operator=(event&&) noexcept = default;
event::~event() = default;

void event::notify() {
  if (state_->waiting == 0) {
    state_->remembered = true;
    return;
  }
  ++state_->notified;
  state_->waiting = 0;
  state_->timer.cancel();
}

task<bool> event::wait_until(clock::time_point deadline) { return wait_on(state_, deadline); }

task<bool> event::wait_for(clock::duration time) {
  const auto now = clock::now();
  const bool unbounded = time > clock::time_point::max() - now;
  return wait_on(state_, unbounded ? clock::time_point::max() : now + time);
}

task<void> event::wait() { return wait_forever(state_); }

task<void> event::wait_forever(std::shared_ptr<state> self) {
  (void)co_await wait_on(std::move(self), clock::time_point::max());
}

task<bool> event::wait_on(std::shared_ptr<state> self, clock::time_point deadline) {
  if (std::exchange(self->remembered, false)) co_return true;
  const waiter here(*self);
  for (;;) {
    self->arm_for(deadline);
    const auto arm = self->arm;
    const auto [failed] = co_await self->timer.async_wait(as_tuple(asio::use_awaitable));
    if (here.notified()) co_return true;
    if (!failed) {
      if (clock::now() >= deadline) co_return false;
    } else if (self->arm == arm) {
      throw std::system_error(failed);
    }
  }
}

}  // namespace berth
