#include "core/event.hpp"

#include "berth/error.hpp"
#include "core/task_group.hpp"
#include "support/async.hpp"
#include "support/waiting.hpp"

#include <doctest/doctest.h>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <asio/this_coro.hpp>

#include <optional>
#include <string>
#include <vector>

using namespace berth;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

task<void> wait_for(event& on, clock_type::duration time, std::string& note) {
  try {
    const bool notified = co_await on.wait_for(time);
    note = notified ? "notified" : "late";
  } catch (const std::system_error& caught) {
    note = caught.code() == asio::error::operation_aborted ? "aborted" : "other";
  }
}

task<void> note_end(event& on, clock_type::duration time, std::vector<std::string>& order, std::string name) {
  const bool notified = co_await on.wait_for(time);
  order.push_back(notified ? name + " notified" : name);
}

task<void> notify_after(event& on, clock_type::duration time) {
  co_await test::pause_for(time);
  on.notify();
}

}  // namespace

ASYNC_TEST("event: notify wakes everyone who waits") {
  const auto executor = co_await asio::this_coro::executor;
  event on(executor);
  task_group group(executor);
  std::string first;
  std::string second;
  group.spawn(wait_for(on, 1h, first));
  group.spawn(wait_for(on, 2h, second));
  on.notify();
  co_await group.join();
  CHECK(first == "notified");
  CHECK(second == "notified");
}

ASYNC_TEST("event: a notify without a waiter is remembered once") {
  event on(co_await asio::this_coro::executor);
  on.notify();
  on.notify();
  co_await on.wait();
  CHECK_FALSE(co_await on.wait_for(1ms));
}

ASYNC_TEST("event: a notify that woke somebody is not remembered") {
  const auto executor = co_await asio::this_coro::executor;
  event on(executor);
  task_group group(executor);
  group.spawn(notify_after(on, 1ms));
  co_await on.wait();
  CHECK_FALSE(co_await on.wait_for(1ms));
  co_await group.join();
}

ASYNC_TEST("event: a second notify before the waiter ran is remembered") {
  const auto executor = co_await asio::this_coro::executor;
  event on(executor);
  task_group group(executor);
  std::string note;
  group.spawn(wait_for(on, 1h, note));
  on.notify();
  on.notify();
  co_await group.join();
  CHECK(note == "notified");
  CHECK(co_await on.wait_for(0ms));
}

ASYNC_TEST("event: a deadline that passed says no, unless a notification is remembered") {
  event on(co_await asio::this_coro::executor);
  const auto past = clock_type::now() - 1s;
  CHECK_FALSE(co_await on.wait_until(past));
  on.notify();
  CHECK(co_await on.wait_until(past));
}

ASYNC_TEST("event: each waiter has its own deadline") {
  const auto executor = co_await asio::this_coro::executor;
  event on(executor);
  task_group timed(executor);
  task_group endless(executor);
  std::vector<std::string> order;
  std::string notified;
  endless.spawn(wait_for(on, 1h, notified));
  timed.spawn(note_end(on, 100ms, order, "later"));
  timed.spawn(note_end(on, 2ms, order, "late"));
  co_await timed.join();
  CHECK(order == std::vector<std::string>{"late", "later"});
  CHECK(notified.empty());
  on.notify();
  co_await endless.join();
  CHECK(notified == "notified");
}

ASYNC_TEST("event: several waiters of one deadline all end") {
  const auto executor = co_await asio::this_coro::executor;
  event on(executor);
  task_group group(executor);
  std::string notes[20];
  const auto deadline = clock_type::now() + 3ms;
  for (auto& note : notes) group.spawn(wait_for(on, deadline - clock_type::now(), note));
  co_await group.join();
  for (const auto& note : notes) CHECK(note == "late");
}

ASYNC_TEST("event: a cancelled wait throws and the next notify is not lost") {
  const auto executor = co_await asio::this_coro::executor;
  event on(executor);
  task_group group(executor);
  std::string note;
  group.spawn(wait_for(on, 1h, note));
  group.cancel();
  co_await group.join();
  CHECK(note == "aborted");
  on.notify();
  CHECK(co_await on.wait_for(0ms));
}

ASYNC_TEST("event: cancelling one waiter leaves the other waiting") {
  const auto executor = co_await asio::this_coro::executor;
  event on(executor);
  task_group first(executor);
  task_group second(executor);
  std::string gone;
  std::string stays;
  first.spawn(wait_for(on, 1h, gone));
  second.spawn(wait_for(on, 2h, stays));
  first.cancel();
  co_await first.join();
  CHECK(gone == "aborted");
  CHECK(stays.empty());
  on.notify();
  co_await second.join();
  CHECK(stays == "notified");
}

ASYNC_TEST("event: a wait that was notified and cancelled gets the notification") {
  const auto executor = co_await asio::this_coro::executor;
  for (const bool notify_first : {true, false}) {
    event on(executor);
    task_group group(executor);
    std::string note;
    group.spawn(wait_for(on, 1h, note));
    if (notify_first) on.notify();
    group.cancel();
    if (!notify_first) on.notify();
    co_await group.join();
    CHECK(note == "notified");
    CHECK_FALSE(co_await on.wait_for(0ms));
  }
}

ASYNC_TEST("event: destroyed, its waiters wait on until their deadline") {
  const auto executor = co_await asio::this_coro::executor;
  std::optional<event> on(std::in_place, executor);
  task_group group(executor);
  std::string note;
  group.spawn(wait_for(*on, 5ms, note));
  on.reset();
  co_await group.join();
  CHECK(note == "late");
}
