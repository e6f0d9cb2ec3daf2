#include "core/task_group.hpp"

#include "berth/error.hpp"
#include "core/event.hpp"
#include "support/async.hpp"
#include "support/waiting.hpp"

#include <doctest/doctest.h>
#include <asio/error.hpp>
#include <asio/io_context.hpp>
#include <asio/this_coro.hpp>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

using namespace berth;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

task<void> set_after(clock_type::duration time, bool& flag) {
  co_await test::pause_for(time);
  flag = true;
}

task<void> fail_after(clock_type::duration time) {
  co_await test::pause_for(time);
  throw std::runtime_error("child failed");
}

/// Notes how it ended: "ended", or the code it was stopped with.
task<void> sleep_long(std::shared_ptr<std::string> note) {
  try {
    co_await test::pause_for(1h);
    *note = "ended";
  } catch (const std::system_error& caught) {
    *note = caught.code() == asio::error::operation_aborted ? "aborted" : "other";
    throw;
  }
}

task<void> end_slowly(std::shared_ptr<std::string> note) {
  co_await asio::this_coro::throw_if_cancelled(false);
  try {
    co_await test::pause_for(1h);
  } catch (const std::system_error&) {
    *note = "stopping";
  }
  co_await test::pause_for(20ms);
  *note = "stopped";
}

task<void> join_into(task_group& group, std::shared_ptr<std::string> note) {
  try {
    co_await group.join();
    *note = "joined";
  } catch (const std::system_error& caught) {
    *note = is_cancelled(caught.code()) ? "aborted" : "other";
  }
}

}  // namespace

ASYNC_TEST("task_group: join waits for all children") {
  task_group group(co_await asio::this_coro::executor);
  bool first = false;
  bool second = false;
  group.spawn(set_after(2ms, first));
  group.spawn(set_after(5ms, second));
  CHECK(group.size() == 2);
  co_await group.join();
  CHECK(first);
  CHECK(second);
  CHECK(group.size() == 0);
}

ASYNC_TEST("task_group: an empty group joins at once") {
  task_group group(co_await asio::this_coro::executor);
  co_await group.join();
}

ASYNC_TEST("task_group: the first failure cancels the rest and comes out of join") {
  task_group group(co_await asio::this_coro::executor);
  auto note = std::make_shared<std::string>();
  group.spawn(sleep_long(note));
  group.spawn(fail_after(1ms));
  std::string thrown;
  try {
    co_await group.join();
  } catch (const std::runtime_error& caught) {
    thrown = caught.what();
  }
  CHECK(thrown == "child failed");
  CHECK(*note == "aborted");
}

ASYNC_TEST("task_group: a child that ends with operation_aborted after cancel has not failed") {
  task_group group(co_await asio::this_coro::executor);
  auto note = std::make_shared<std::string>();
  group.spawn(sleep_long(note));
  group.cancel();
  co_await group.join();
  CHECK(*note == "aborted");
}

ASYNC_TEST("task_group: operation_aborted without a cancel is a failure") {
  struct body {
    static task<void> abort() {
      co_await test::pause_for(1ms);
      throw std::system_error(make_error_code(asio::error::operation_aborted));
    }
  };

  task_group group(co_await asio::this_coro::executor);
  group.spawn(body::abort());
  CHECK_FALSE(co_await group.ended_by(clock_type::now()));
  CHECK(co_await group.ended_by(clock_type::time_point::max()));
  CHECK_THROWS_AS(group.throw_failure(), std::system_error);
  co_await group.join();
}

ASYNC_TEST("task_group: a failed child that failed at once is reported too") {
  struct body {
    static task<void> fail() {
      throw std::runtime_error("at once");
      co_return;
    }
  };

  task_group group(co_await asio::this_coro::executor);
  group.spawn(body::fail());
  bool thrown = false;
  try {
    co_await group.join();
  } catch (const std::runtime_error&) {
    thrown = true;
  }
  CHECK(thrown);
}

ASYNC_TEST("task_group: after cancel a new child is dropped before it starts") {
  task_group group(co_await asio::this_coro::executor);
  group.cancel();
  bool ran = false;
  group.spawn(set_after(0ms, ran));
  CHECK(group.size() == 0);
  co_await group.join();
  CHECK_FALSE(ran);
}

ASYNC_TEST("task_group: join waits for children that are spawned while it waits") {
  struct body {
    static task<void> parent(task_group& group, bool& flag) {
      co_await test::pause_for(1ms);
      group.spawn(set_after(3ms, flag));
    }
  };

  task_group group(co_await asio::this_coro::executor);
  bool flag = false;
  group.spawn(body::parent(group, flag));
  co_await group.join();
  CHECK(flag);
}

ASYNC_TEST("task_group: a child may cancel its own group") {
  struct body {
    static task<void> stop(task_group& group) {
      co_await test::pause_for(1ms);
      group.cancel();
      co_await test::pause_for(1h);
    }
  };

  task_group group(co_await asio::this_coro::executor);
  auto note = std::make_shared<std::string>();
  group.spawn(sleep_long(note));
  group.spawn(body::stop(group));
  co_await group.join();
  CHECK(*note == "aborted");
}

ASYNC_TEST("task_group: a cancelled join cancels the children and waits for their end") {
  const auto executor = co_await asio::this_coro::executor;
  task_group group(executor);
  auto child = std::make_shared<std::string>();
  group.spawn(end_slowly(child));
  task_group joiner(executor);
  auto note = std::make_shared<std::string>();
  joiner.spawn(join_into(group, note));
  joiner.cancel();
  co_await joiner.join();
  CHECK(*note == "aborted");
  CHECK(*child == "stopped");
}

ASYNC_TEST("task_group: two joins both end") {
  const auto executor = co_await asio::this_coro::executor;
  task_group group(executor);
  bool flag = false;
  group.spawn(set_after(5ms, flag));
  task_group joiner(executor);
  auto first = std::make_shared<std::string>();
  auto second = std::make_shared<std::string>();
  joiner.spawn(join_into(group, first));
  joiner.spawn(join_into(group, second));
  co_await joiner.join();
  CHECK(*first == "joined");
  CHECK(*second == "joined");
}

ASYNC_TEST("task_group: ended_by says no when the time passes, and cancels nobody") {
  task_group group(co_await asio::this_coro::executor);
  auto note = std::make_shared<std::string>();
  group.spawn(sleep_long(note));
  CHECK_FALSE(co_await group.ended_by(clock_type::now() + 1ms));
  CHECK(group.size() == 1);
  CHECK(note->empty());
  group.cancel();
  co_await group.join();
}

TEST_CASE("task_group: destroyed unjoined, its children end by themselves") {
  auto note = std::make_shared<std::string>();
  asio::io_context io(1);
  {
    task_group group(io.get_executor());
    group.spawn(sleep_long(note));
    io.poll();
  }
  CHECK(note->empty());
  io.restart();
  io.run_for(5s);
  CHECK(*note == "aborted");
  CHECK(note.use_count() == 1);
}

TEST_CASE("task_group: destroyed unjoined on an io_context that never runs") {
  auto note = std::make_shared<std::string>();
  {
    asio::io_context io(1);
    task_group group(io.get_executor());
    group.spawn(sleep_long(note));
  }
  CHECK(note.use_count() == 1);
}

TEST_CASE("task_group: outlives the io_context") {
  auto note = std::make_shared<std::string>();
  std::optional<asio::io_context> io(std::in_place, 1);
  task_group group(io->get_executor());
  group.spawn(sleep_long(note));
  auto joined = std::make_shared<std::string>();
  task_group joiner(io->get_executor());
  joiner.spawn(join_into(group, joined));
  io->poll();
  io.reset();
  CHECK(note.use_count() == 1);
  CHECK(group.size() == 0);
  group.cancel();
}

TEST_CASE("task_group: nested groups go down with their io_context") {
  struct body {
    static task<void> inner(std::shared_ptr<std::string> note, int depth) {
      task_group group(co_await asio::this_coro::executor);
      if (depth > 0) group.spawn(inner(note, depth - 1));
      group.spawn(sleep_long(note));
      co_await group.join();
    }
  };
  auto note = std::make_shared<std::string>();
  {
    asio::io_context io(1);
    task_group group(io.get_executor());
    group.spawn(body::inner(note, 3));
    io.poll();
  }
  CHECK(note.use_count() == 1);
}

ASYNC_TEST("task_group: a thousand children") {
  struct body {
    static task<void> count(int& ended, int wait) {
      co_await test::pause_for(std::chrono::microseconds(wait));
      ++ended;
    }
  };

  task_group group(co_await asio::this_coro::executor);
  int ended = 0;
  for (int i = 0; i < 1000; ++i) group.spawn(body::count(ended, i % 7));
  co_await group.join();
  CHECK(ended == 1000);
}
