#include <berth/backend.hpp>
#include <berth/error.hpp>
#include <berth/files.hpp>

#include "context/watch_batch.hpp"

#include <chrono>
#include <exception>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr auto window = std::chrono::milliseconds(50);

using time_point = backend_watch::time_point;

}  // namespace

struct watcher::state {
  explicit state(std::shared_ptr<backend_watch> from) : source(std::move(from)) {}

  /// False once nothing more happened in time, or the watch has ended and there is something to tell before that.
  static task<bool> gather(std::shared_ptr<state> self, time_point until) {
    std::vector<watch_event> events;
    try {
      events = co_await self->source->next(until);
    } catch (const std::system_error& failure) {
      if (is_cancelled(failure.code()) || self->batch.empty()) throw;
    }
    self->batch.add(events);
    co_return !events.empty();
  }

  std::shared_ptr<backend_watch> source;
  watch_batch batch;
};

watcher::watcher() = default;
watcher::watcher(std::shared_ptr<backend_watch> source) : state_(std::make_shared<state>(std::move(source))) {}
watcher::watcher(watcher&&) noexcept = default;
watcher& watcher::operator=(watcher&&) noexcept = default;
watcher::~watcher() = default;

task<std::vector<watch_event>> watcher::next() & {
  if (!state_) throw error(make_error_code(errc::invalid_argument), "watcher: this object is empty");
  return next_of(state_);
}

task<std::vector<watch_event>> watcher::next_of(std::shared_ptr<state> self) {
  for (;;) {
    while (self->batch.empty()) (void)co_await state::gather(self, time_point::max());
    const auto until = std::chrono::steady_clock::now() + window;
    while (co_await state::gather(self, until)) {
    }
    auto events = self->batch.take();
    if (!events.empty()) co_return events;
  }
}

}  // namespace berth
