#include "core/blocking.hpp"

#include "core/event.hpp"
#include "core/signal_mask.hpp"

#include <asio/error.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>
#include <asio/thread_pool.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace berth {
namespace {

// A job goes from queued to begun to over, or from queued to withdrawn.
enum class phase { queued, begun, over, withdrawn };

}  // namespace

struct blocking_pool::state {
  explicit state(std::size_t count) : threads(std::max<std::size_t>(count, 1)) {}

  ~state() {
    if (pool) pool->join();
    for (auto& each : others) each.join();
  }

  asio::thread_pool& started() {
    if (pool) return *pool;
    const all_signals_blocked blocked;  // threads inherit the mask
    pool.emplace(1);
    // Where the process may have no more threads, one must do. (A pool asked for two waits for the first for ever then.)
    try {
      while (others.size() + 1 < threads) others.emplace_back([this] { pool->attach(); });
    } catch (const std::system_error&) {
    }
    return *pool;
  }

  std::size_t threads;
  std::optional<asio::thread_pool> pool;
  std::vector<std::thread> others;
  std::atomic<bool> closing = false;
};

// Shared by the coroutine and the thread. The thread touches the function and the failure, between begun and over;
// the rest of the time, and all else but the phase, they belong to the thread of the executor.
struct blocking_pool::job {
  job(asio::any_io_executor on, std::function<void()> what) : executor(std::move(on)), function(std::move(what)) {}

  bool enter(phase next) {
    auto expected = phase::queued;
    return at.compare_exchange_strong(expected, next);
  }

  void call() noexcept {
    try {
      function();
    } catch (...) {
      failure = std::current_exception();
    }
  }

  /// From here on the thread has nothing to do with the job, nor with the io_context.
  void leave() noexcept {
    at = phase::over;
    at.notify_all();
  }

  asio::any_io_executor executor;
  std::function<void()> function;
  std::exception_ptr failure;
  std::atomic<phase> at = phase::queued;
  std::atomic<bool> abandoned = false;
  bool done = false;
  event* finished = nullptr;
};

// Ties the coroutine to its job. When the frame is destroyed in the middle, with its io_context, this waits for the
// thread: the function may use what the frame's caller owns, and the thread posts to the io_context.
class blocking_pool::awaiting {
 public:
  explicit awaiting(job& of) : finished_(of.executor), job_(of) { job_.finished = &finished_; }
  awaiting(const awaiting&) = delete;
  awaiting& operator=(const awaiting&) = delete;
  ~awaiting() {
    withdraw();
    job_.abandoned = true;
    job_.at.wait(phase::begun);
    job_.finished = nullptr;
    job_.function = nullptr;  // here, not on the other thread
  }

  bool withdraw() { return job_.enter(phase::withdrawn); }
  task<void> wait() { return finished_.wait(); }

 private:
  event finished_;
  job& job_;
};

blocking_pool::blocking_pool(std::size_t threads) : state_(std::make_shared<state>(threads)) {}

blocking_pool::~blocking_pool() { state_->closing = true; }

void blocking_pool::perform(std::shared_ptr<job> one, bool closing) {
  if (!one->enter(closing ? phase::withdrawn : phase::begun)) return;
  if (!closing) one->call();
  auto wake = [one] {
    one->done = true;
    if (one->finished != nullptr) one->finished->notify();
  };
  if (!one->abandoned) asio::post(one->executor, std::move(wake));
  if (!closing) one->leave();
}

task<void> blocking_pool::run_erased(std::shared_ptr<state> self, std::function<void()> function) {
  const std::system_error aborted(make_error_code(asio::error::operation_aborted));
  if (self->closing) throw aborted;
  const auto one = std::make_shared<job>(co_await asio::this_coro::executor, std::move(function));
  awaiting here(*one);
  // The pool outlives its queue, so its state does too.
  auto work = [one, pool = self.get()]() mutable { perform(std::move(one), pool->closing); };
  asio::post(self->started(), std::move(work));
  self.reset();

  const bool throws = co_await asio::this_coro::throw_if_cancelled();
  co_await asio::this_coro::throw_if_cancelled(false);
  bool withdrawn = false;
  while (!one->done && !withdrawn) {
    try {
      co_await here.wait();
    } catch (const std::system_error&) {
      withdrawn = here.withdraw();
    }
  }
  co_await asio::this_coro::throw_if_cancelled(throws);
  if (one->at == phase::withdrawn) throw aborted;
  if (one->failure) std::rethrow_exception(one->failure);
}

}  // namespace berth
