#include "http/pool.hpp"

#include "berth/error.hpp"
#include "core/event.hpp"

#include <asio/steady_timer.hpp>

#include <algorithm>
#include <deque>
#include <unordered_map>
#include <utility>
#include <vector>

namespace berth::http {
namespace {

using clock = std::chrono::steady_clock;

struct waiting {
  explicit waiting(const asio::any_io_executor& executor) : called(executor) {}
  event called;
  bool its_turn = false;
};

struct kept_connection {
  stream_ptr stream;
  clock::time_point until;
};

struct place_state {
  std::size_t used = 0;  // leases, and turns that were given and not taken yet
  std::vector<kept_connection> kept;
  std::deque<std::shared_ptr<waiting>> queue;
};

}  // namespace

struct pool_state : std::enable_shared_from_this<pool_state> {
  pool_state(asio::any_io_executor on, pool_options with)
      : executor(on), options(with), timer(std::make_unique<asio::steady_timer>(std::move(on))) {}

  /// A lease has ended: the next one's turn, or one place less.
  void free_one(const std::string& place) noexcept {
    const auto found = places.find(place);
    if (found == places.end()) return;
    auto& here = found->second;
    if (!here.queue.empty()) {
      const auto next = std::move(here.queue.front());
      here.queue.pop_front();
      next->its_turn = true;
      return next->called.notify();
    }
    --here.used;
    if (here.used == 0 && here.kept.empty()) places.erase(found);
  }

  stream_ptr take_kept(const std::string& place) {
    auto& kept = places[place].kept;
    while (!kept.empty()) {
      auto newest = std::move(kept.back());
      kept.pop_back();
      if (newest.until > clock::now() && newest.stream->is_quiet()) return newest.stream;
      newest.stream->close();
    }
    return nullptr;
  }

  void keep(const std::string& place, stream_ptr stream) {
    if (closed || !stream->is_quiet()) return stream->close();
    places[place].kept.push_back(kept_connection{std::move(stream), clock::now() + options.idle});
    if (!timing) close_later();
  }

  /// Those that were kept first come first.
  void close_late() {
    const auto now = clock::now();
    for (auto each = places.begin(); each != places.end();) {
      auto& here = each->second;
      const auto late = [&](const kept_connection& one) { return one.until <= now || !one.stream->is_quiet(); };
      for (const auto& one : here.kept) {
        if (late(one)) one.stream->close();
      }
      std::erase_if(here.kept, late);
      each = here.kept.empty() && here.used == 0 ? places.erase(each) : std::next(each);
    }
  }

  void close_later() {
    auto next = clock::time_point::max();
    for (const auto& [name, here] : places) {
      for (const auto& one : here.kept) next = std::min(next, one.until);
    }
    timing = next != clock::time_point::max();
    if (!timing) return;
    timer->expires_at(next);
    timer->async_wait([weak = weak_from_this()](std::error_code failed) {
      const auto self = weak.lock();
      if (!self || self->closed) return;
      self->timing = false;
      if (failed) return;
      self->close_late();
      self->close_later();
    });
  }

  void close() noexcept {
    closed = true;
    timer.reset();
    for (auto& [name, here] : places) {
      for (const auto& one : here.kept) one.stream->close();
      here.kept.clear();
      for (const auto& one : here.queue) one->called.notify();
    }
  }

  asio::any_io_executor executor;
  pool_options options;
  std::unique_ptr<asio::steady_timer> timer;
  bool timing = false;
  bool closed = false;
  std::unordered_map<std::string, place_state> places;
};

namespace {

/// Whoever waits and is gone before its turn, or in it, lets the others go on.
class place_in_queue {
 public:
  place_in_queue(std::shared_ptr<pool_state> pool, std::string place, std::shared_ptr<waiting> me)
      : pool_(std::move(pool)), place_(std::move(place)), me_(std::move(me)) {
    pool_->places[place_].queue.push_back(me_);
  }
  place_in_queue(const place_in_queue&) = delete;
  place_in_queue& operator=(const place_in_queue&) = delete;
  ~place_in_queue() {
    if (!me_) return;
    const auto found = pool_->places.find(place_);
    if (me_->its_turn)
      pool_->free_one(place_);
    else if (found != pool_->places.end())
      std::erase(found->second.queue, me_);
  }

  void taken() noexcept { me_ = nullptr; }

 private:
  std::shared_ptr<pool_state> pool_;
  std::string place_;
  std::shared_ptr<waiting> me_;
};

task<void> wait_for_turn(std::shared_ptr<pool_state> pool, std::string place) {
  const auto me = std::make_shared<waiting>(pool->executor);
  place_in_queue here(pool, std::move(place), me);
  while (!me->its_turn) {
    co_await me->called.wait();
    if (pool->closed) throw error(errc::destroyed, "the HTTP client is gone");
  }
  here.taken();
}

}  // namespace

connection_lease& connection_lease::operator=(connection_lease&& other) noexcept {
  if (this == &other) return *this;
  end();
  pool_ = std::move(other.pool_);
  place_ = std::move(other.place_);
  stream_ = std::move(other.stream_);
  reused_ = other.reused_;
  return *this;
}

connection_lease::~connection_lease() { end(); }

void connection_lease::end() noexcept {
  if (stream_) stream_->close();
  stream_ = nullptr;
  reused_ = false;
  leave_pool();
}

void connection_lease::leave_pool() noexcept {
  if (const auto pool = std::exchange(pool_, nullptr)) pool->free_one(place_);
}

void connection_lease::give_back() {
  if (stream_ && pool_) pool_->keep(place_, std::exchange(stream_, nullptr));
  end();
}

stream_ptr connection_lease::detach() {
  auto stream = std::exchange(stream_, nullptr);
  end();
  return stream;
}

connection_pool::connection_pool(asio::any_io_executor executor, pool_options options)
    : state_(std::make_shared<pool_state>(std::move(executor), options)) {
  if (options.per_host == 0) throw error(errc::invalid_argument, "pool: per_host must be at least 1");
}

connection_pool::~connection_pool() {
  if (state_) state_->close();
}

task<connection_lease> connection_pool::take(std::string place, bool fresh) {
  return take_from(state_, std::move(place), fresh);
}

task<connection_lease> connection_pool::take_from(std::shared_ptr<pool_state> self, std::string place, bool fresh) {
  if (self->closed) throw error(errc::destroyed, "the HTTP client is gone");
  auto& here = self->places[place];
  if (here.used >= self->options.per_host)
    co_await wait_for_turn(self, place);  // the one before left its turn to this
  else
    ++here.used;
  connection_lease lease(self, place);
  if (!fresh) lease.stream_ = self->take_kept(place);
  lease.reused_ = lease.stream_ != nullptr;
  co_return lease;
}

std::size_t connection_pool::idle() const noexcept {
  std::size_t sum = 0;
  for (const auto& [name, here] : state_->places) sum += here.kept.size();
  return sum;
}

}  // namespace berth::http
