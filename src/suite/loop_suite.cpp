/// Does the io_context stay responsive while 64 commands run?

#include "core/task_group.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <utility>

namespace berth::suite {
namespace {

using namespace std::chrono_literals;

constexpr int busy_with = 64;
// About as long as 64 commands take.
constexpr auto idle_time = 50ms;

struct ticker {
  double longest = 0;
  bool stopped = false;
};

/// A timer of 1 ms, again and again until it is stopped.
task<void> tick(std::shared_ptr<ticker> its) {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  while (!its->stopped) {
    const bench::stopwatch gap;
    timer.expires_after(1ms);
    co_await timer.async_wait(asio::use_awaitable);
    its->longest = std::max(its->longest, gap.micros());
  }
}

task<void> pass_time() {
  const auto executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor);
  timer.expires_after(idle_time);
  co_await timer.async_wait(asio::use_awaitable);
}

task<void> run_commands(shared_place warm) {
  const auto executor = co_await asio::this_coro::executor;
  task_group group(executor);
  for (int i = 0; i < busy_with; ++i) group.spawn(exec_true(*warm->place, warm->where));
  co_await group.join();
}

task<void> stop_after(std::shared_ptr<ticker> its, task<void> work) {
  co_await std::move(work);
  its->stopped = true;
}

task<double> longest_gap(task<void> during) {
  const auto executor = co_await asio::this_coro::executor;
  const auto its = std::make_shared<ticker>();
  task_group group(executor);
  group.spawn(tick(its));
  group.spawn(stop_after(its, std::move(during)));
  co_await group.join();
  co_return its->longest;
}

}  // namespace

subjects loop_suite(asio::io_context& io) {
  const auto warm = std::make_shared<warm_place>(io);
  subjects all;
  all.push_back({.name = "loop/idle", .runs = 50, .sample = [] { return longest_gap(pass_time()); }});
  all.push_back(in_place(warm, {.name = "loop/host", .bases = {{"loop/idle"}}, .runs = 50, .sample = [warm] {
                                  return longest_gap(run_commands(warm));
                                }}));
  return all;
}

}  // namespace berth::suite
