#include "core/event.hpp"

#include "berth/error.hpp"
#include "core/run.hpp"
#include "core/task_group.hpp"

#include <doctest/doctest.h>
#include <asio/error.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <optional>
#include <string>

using namespace berth;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

task<void> pause(clock_type::duration time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

task<void> wait_for(event& on, clock_type::duration time, std::string& note) {
  try {
    const bool notified = co_await on.wait_for(time);
    note = notified ? "notified" : "late";
  } catch (const std::system_error& caught) {
    note = caught.code() == asio::error::operation_aborted ? "aborted" : "other";
  }
}

task<void> notify_after(event& on, clock_type::duration time) {
  co_await pause(time);
  on.notify();
}

}  // namespace

TEST_CASE("event: notify wakes everyone who waits") {
  struct body {
    static task<void> run() {
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
  };
  test::run(body::run());
}

TEST_CASE("event: a notify without a waiter is remembered once") {
  struct body {
    static task<void> run() {
      event on(co_await asio::this_coro::executor);
      on.notify();
      on.notify();
      co_await on.wait();
      CHECK_FALSE(co_await on.wait_for(1ms));
    }
  };
  test::run(body::run());
}

TEST_CASE("event: a notify that woke somebody is not remembered") {
  struct body {
    static task<void> run() {
      const auto executor = co_await asio::this_coro::executor;
      event on(executor);
      task_group group(executor);
      group.spawn(notify_after(on, 1ms));
      co_await on.wait();
      CHECK_FALSE(co_await on.wait_for(1ms));
      co_await group.join();
    }
  };
  test::run(body::run());
}

TEST_CASE("event: a second notify before the waiter ran is remembered") {
  struct body {
    static task<void> run() {
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
  };
  test::run(body::run());
}

TEST_CASE("event: a deadline that passed says no, unless a notification is remembered") {
  struct body {
    static task<void> run() {
      event on(co_await asio::this_coro::executor);
      const auto past = clock_type::now() - 1s;
      CHECK_FALSE(co_await on.wait_until(past));
      on.notify();
      CHECK(co_await on.wait_until(past));
    }
  };
  test::run(body::run());
}

TEST_CASE("event: each waiter has its own deadline") {
  struct body {
    static task<void> run() {
      const auto executor = co_await asio::this_coro::executor;
      event on(executor);
      task_group group(executor);
      std::string late;
      std::string later;
      std::string notified;
      group.spawn(wait_for(on, 1h, notified));
      group.spawn(wait_for(on, 15ms, later));
      group.spawn(wait_for(on, 3ms, late));
      co_await pause(8ms);
      CHECK(late == "late");
      CHECK(later.empty());
      co_await pause(15ms);
      CHECK(later == "late");
      CHECK(notified.empty());
      on.notify();
      co_await group.join();
      CHECK(notified == "notified");
    }
  };
  test::run(body::run());
}

TEST_CASE("event: several waiters of one deadline all end") {
  struct body {
    static task<void> run() {
      const auto executor = co_await asio::this_coro::executor;
      event on(executor);
      task_group group(executor);
      std::string notes[20];
      const auto deadline = clock_type::now() + 3ms;
      for (auto& note : notes) group.spawn(wait_for(on, deadline - clock_type::now(), note));
      co_await group.join();
      for (const auto& note : notes) CHECK(note == "late");
    }
  };
  test::run(body::run());
}

TEST_CASE("event: a cancelled wait throws and the next notify is not lost") {
  struct body {
    static task<void> run() {
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
  };
  test::run(body::run());
}

TEST_CASE("event: cancelling one waiter leaves the other waiting") {
  struct body {
    static task<void> run() {
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
  };
  test::run(body::run());
}

TEST_CASE("event: a wait that was notified and cancelled gets the notification") {
  struct body {
    static task<void> run() {
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
  };
  test::run(body::run());
}

TEST_CASE("event: destroyed, its waiters wait on until their deadline") {
  struct body {
    static task<void> run() {
      const auto executor = co_await asio::this_coro::executor;
      std::optional<event> on(std::in_place, executor);
      task_group group(executor);
      std::string note;
      group.spawn(wait_for(*on, 5ms, note));
      on.reset();
      co_await group.join();
      CHECK(note == "late");
    }
  };
  test::run(body::run());
}
