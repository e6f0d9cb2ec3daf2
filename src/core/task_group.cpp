#include "core/task_group.hpp"

#include "berth/error.hpp"
#include "core/event.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>
#include <asio/error.hpp>
#include <asio/this_coro.hpp>

#include <exception>
#include <system_error>
#include <unordered_set>
#include <utility>
#include <vector>

namespace berth {
namespace {

using clock = std::chrono::steady_clock;

bool is_cancelled(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::system_error& caught) {
    return berth::is_cancelled(caught.code());
  } catch (...) {
    return false;
  }
}

}  // namespace

struct task_group::child {
  asio::cancellation_signal signal;
};

struct task_group::state : std::enable_shared_from_this<state> {
  explicit state(asio::any_io_executor on) : executor(std::move(on)) {}

  void cancel() {
    cancelled = true;
    // A signal can end a child on the spot, and a child can end the group.
    const std::vector<std::shared_ptr<child>> all(children.begin(), children.end());
    for (const auto& each : all) each->signal.emit(asio::cancellation_type::terminal);
  }

  void ended(const std::shared_ptr<child>& one, const std::exception_ptr& error) {
    const auto keep = shared_from_this();
    children.erase(one);
    if (error && !(cancelled && is_cancelled(error))) {
      const bool first = !failed;
      failed = true;
      if (first) failure = error;
      if (first) cancel();
    }
    if (const auto waiting = idle.lock(); waiting && children.empty()) waiting->notify();
  }

  asio::any_io_executor executor;
  std::unordered_set<std::shared_ptr<child>> children;
  std::exception_ptr failure;
  bool failed = false;
  bool cancelled = false;
  // Owned by those who wait: a timer must not outlive the io_context, and the state may.
  std::weak_ptr<event> idle;
};

// The completion handler of a child. An io_context that is destroyed drops it without a call: the child's signal must
// not be used from then on.
class task_group::on_end {
 public:
  on_end(std::shared_ptr<state> group, std::shared_ptr<child> one) : group_(std::move(group)), child_(std::move(one)) {}
  on_end(on_end&&) noexcept = default;
  on_end& operator=(on_end&&) = delete;
  ~on_end() {
    if (group_) group_->children.erase(child_);
  }

  void operator()(const std::exception_ptr& error) {
    const auto group = std::exchange(group_, nullptr);
    group->ended(child_, error);
  }

 private:
  std::shared_ptr<state> group_;
  std::shared_ptr<child> child_;
};

task_group::task_group(asio::any_io_executor executor) : state_(std::make_shared<state>(std::move(executor))) {}

task_group::task_group(task_group&&) noexcept = default;

task_group::~task_group() {
  if (state_) state_->cancel();
}

void task_group::spawn(task<void> work) {
  if (state_->cancelled) return;
  auto one = std::make_shared<child>();
  state_->children.insert(one);
  auto slot = one->signal.slot();
  on_end handler(state_, std::move(one));
  asio::co_spawn(state_->executor, std::move(work), asio::bind_cancellation_slot(slot, std::move(handler)));
}

void task_group::cancel() { state_->cancel(); }

task<void> task_group::join() { return join_all(state_); }

task<bool> task_group::ended_by(clock::time_point deadline) { return wait_until(state_, deadline); }

std::size_t task_group::size() const noexcept { return state_->children.size(); }

const asio::any_io_executor& task_group::get_executor() const noexcept { return state_->executor; }

void task_group::throw_failure() {
  if (state_->failure) std::rethrow_exception(std::exchange(state_->failure, nullptr));
}

task<void> task_group::join_all(std::shared_ptr<state> self) {
  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  bool cancelled = false;
  while (!self->children.empty()) {
    try {
      (void)co_await wait_until(self, clock::time_point::max());
    } catch (const std::system_error&) {
      cancelled = true;
    }
    if (!cancelled) continue;
    self->cancel();
    // The cancellation stays flagged; it must not end the wait for the children.
    co_await asio::this_coro::throw_if_cancelled(false);
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (self->failure) std::rethrow_exception(std::exchange(self->failure, nullptr));
  if (cancelled) throw std::system_error(make_error_code(asio::error::operation_aborted));
}

task<bool> task_group::wait_until(std::shared_ptr<state> self, clock::time_point deadline) {
  if (self->children.empty()) co_return true;
  auto idle = self->idle.lock();
  if (!idle) self->idle = idle = std::make_shared<event>(self->executor);
  while (!self->children.empty()) {
    const bool notified = co_await idle->wait_until(deadline);
    if (!notified) co_return self->children.empty();
  }
  co_return true;
}

}  // namespace berth
