#pragma once
// Blocking calls, off the thread of the io_context.

#include "berth/task.hpp"

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

namespace berth {

/// A few threads for file work that would hold up the io_context. They start with the first call, with all signals
/// blocked: a host program's handlers run on its own threads.
///
/// Life: the destructor withdraws the calls that have not begun (their tasks end with `operation_aborted`), and waits
///       for those that have. So does an io_context that is destroyed with calls under way.
class blocking_pool {
 public:
  explicit blocking_pool(std::size_t threads = 2);
  blocking_pool(const blocking_pool&) = delete;
  blocking_pool& operator=(const blocking_pool&) = delete;
  ~blocking_pool();

  /// Calls the function on a thread of the pool, and gives its result, or throws what it threw, on the executor of
  /// the caller. The function must own what it uses, or use what the caller keeps alive for the whole await.
  ///
  /// Cancel: a call that has not begun is withdrawn. One that has cannot be stopped: the await ends with it, and
  ///         gives its result all the same; the cancellation shows at the caller's next await.
  template <class F>
  auto run(F function) -> task<std::invoke_result_t<F&>> {
    return call(state_, std::move(function));
  }

 private:
  struct state;
  struct job;
  class awaiting;

  static void perform(std::shared_ptr<job> one, bool closing);
  static task<void> run_erased(std::shared_ptr<state> self, std::function<void()> function);

  template <class F>
  static auto call(std::shared_ptr<state> self, F function) -> task<std::invoke_result_t<F&>>;

  std::shared_ptr<state> state_;
};

template <class F>
auto blocking_pool::call(std::shared_ptr<state> self, F function) -> task<std::invoke_result_t<F&>> {
  using result = std::invoke_result_t<F&>;
  auto shared = std::make_shared<F>(std::move(function));  // std::function would want a copyable one
  if constexpr (std::is_void_v<result>) {
    std::function<void()> erased = [shared] { (*shared)(); };
    co_await run_erased(std::move(self), std::move(erased));
  } else {
    auto kept = std::make_shared<std::optional<result>>();
    std::function<void()> erased = [shared, kept] { kept->emplace((*shared)()); };
    co_await run_erased(std::move(self), std::move(erased));
    co_return std::move(**kept);
  }
}

}  // namespace berth
