#include "core/blocking.hpp"

#include "berth/error.hpp"
#include "core/task_group.hpp"
#include "support/async.hpp"

#include <doctest/doctest.h>
#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>

#include <atomic>
#include <csignal>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

using namespace berth;
using namespace std::chrono_literals;

namespace {

/// A gate that a blocking function stands at.
struct gate {
  std::atomic<bool> open = false;
  std::atomic<bool> reached = false;
  void pass() {
    reached = true;
    reached.notify_all();
    open.wait(false);
  }
  void release() {
    open = true;
    open.notify_all();
  }
};

task<void> pass_gate(blocking_pool& pool, gate& at, std::string& note) {
  try {
    auto pass = [&at] { at.pass(); };
    co_await pool.run(pass);
    note = "passed";
  } catch (const std::system_error& caught) {
    note = is_cancelled(caught.code()) ? "withdrawn" : "other";
  }
}

}  // namespace

ASYNC_TEST("blocking_pool: runs the function on another thread and comes back") {
  blocking_pool pool;
  const auto here = std::this_thread::get_id();
  auto where = [] { return std::this_thread::get_id(); };
  const auto there = co_await pool.run(where);
  CHECK(there != here);
  CHECK(std::this_thread::get_id() == here);
}

ASYNC_TEST("blocking_pool: gives move-only results, and takes move-only functions") {
  blocking_pool pool;
  auto owned = std::make_unique<int>(7);
  auto give = [owned = std::move(owned)]() mutable { return std::move(owned); };
  const auto result = co_await pool.run(std::move(give));
  CHECK(*result == 7);
}

ASYNC_TEST("blocking_pool: exceptions travel") {
  blocking_pool pool;
  auto fail = [] { throw std::runtime_error("no such disk"); };
  std::string thrown;
  try {
    co_await pool.run(fail);
  } catch (const std::runtime_error& caught) {
    thrown = caught.what();
  }
  CHECK(thrown == "no such disk");
}

ASYNC_TEST("blocking_pool: its threads take no signals") {
  blocking_pool pool;
  auto blocked = [] {
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    return sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGINT) == 1;
  };
  CHECK(co_await pool.run(blocked));
}

ASYNC_TEST("blocking_pool: a cancelled call that has not begun is withdrawn, one that has is waited for") {
  blocking_pool pool(1);
  task_group group(co_await asio::this_coro::executor);
  gate at;
  std::string first;
  std::string second;
  group.spawn(pass_gate(pool, at, first));
  at.reached.wait(false);
  group.spawn(pass_gate(pool, at, second));
  group.cancel();
  CHECK_FALSE(co_await group.ended_by(std::chrono::steady_clock::now() + 20ms));
  CHECK(second == "withdrawn");
  CHECK(first.empty());
  at.release();
  co_await group.join();
  CHECK(first == "passed");
}

ASYNC_TEST("blocking_pool: a destroyed pool waits for what has begun and withdraws the rest") {
  std::optional<blocking_pool> pool(std::in_place, 1);
  task_group group(co_await asio::this_coro::executor);
  gate at;
  std::string first;
  std::string second;
  group.spawn(pass_gate(*pool, at, first));
  group.spawn(pass_gate(*pool, at, second));
  at.reached.wait(false);
  std::thread opener([&at] {
    std::this_thread::sleep_for(10ms);
    at.release();
  });
  pool.reset();
  opener.join();
  co_await group.join();
  CHECK(first == "passed");
  CHECK(second == "withdrawn");
}

TEST_CASE("blocking_pool: an io_context that goes away waits for the function that has begun") {
  std::string first;
  std::string second;
  gate at;
  blocking_pool pool(1);
  std::thread opener;
  {
    asio::io_context io(1);
    task_group group(io.get_executor());
    group.spawn(pass_gate(pool, at, first));
    group.spawn(pass_gate(pool, at, second));
    io.poll();
    at.reached.wait(false);
    opener = std::thread([&at] {
      std::this_thread::sleep_for(10ms);
      at.release();
    });
  }
  CHECK(at.open);
  opener.join();
  CHECK(first.empty());
  CHECK(second.empty());
}

TEST_CASE("blocking_pool: may be owned by a coroutine that its io_context takes down") {
  struct body {
    static task<void> own(gate& at, std::string& note) {
      blocking_pool pool(1);
      co_await pass_gate(pool, at, note);
    }
  };
  std::string note;
  gate at;
  std::thread opener;
  {
    asio::io_context io(1);
    task_group group(io.get_executor());
    group.spawn(body::own(at, note));
    io.poll();
    opener = std::thread([&at] {
      at.reached.wait(false);
      at.release();
    });
    at.reached.wait(false);
  }
  opener.join();
  CHECK(note.empty());
}

ASYNC_TEST("blocking_pool: many calls") {
  struct body {
    static task<void> add(blocking_pool& pool, std::atomic<int>& sum, int n) {
      auto work = [&sum, n] { sum += n; };
      co_await pool.run(work);
    }
  };

  blocking_pool pool;
  task_group group(co_await asio::this_coro::executor);
  std::atomic<int> sum = 0;
  for (int i = 1; i <= 500; ++i) group.spawn(body::add(pool, sum, i));
  co_await group.join();
  CHECK(sum == 125250);
}
