#include "core/deadline.hpp"

#include "berth/error.hpp"
#include "core/task_group.hpp"
#include "support/async.hpp"
#include "support/waiting.hpp"

#include <doctest/doctest.h>
#include <asio/error.hpp>
#include <asio/this_coro.hpp>

#include <stdexcept>
#include <string>

using namespace berth;
using namespace std::chrono_literals;
using clock_type = std::chrono::steady_clock;

namespace {

/// No default constructor, no copies.
struct parcel {
  explicit parcel(int n) : number(std::make_unique<int>(n)) {}
  std::unique_ptr<int> number;
};

task<parcel> give_after(clock_type::duration time, int number) {
  co_await test::pause_for(time);
  co_return parcel(number);
}

task<int> give_in_spite(int number) {
  try {
    co_await test::pause_for(1h);
  } catch (const std::system_error&) {
  }
  co_return number;
}

task<void> fail_after(clock_type::duration time) {
  co_await test::pause_for(time);
  throw std::runtime_error("work failed");
}

task<void> end_slowly(bool& ended) {
  co_await asio::this_coro::throw_if_cancelled(false);
  try {
    co_await test::pause_for(1h);
  } catch (const std::system_error&) {
  }
  co_await test::pause_for(10ms);
  ended = true;
}

task<void> clean(clock_type::duration time, std::string& note) {
  note += "cleaning ";
  co_await test::pause_for(time);
  note += "cleaned ";
}

task<void> time_out() {
  co_await test::pause_for(1ms);
  throw error(errc::timeout, "of the work");
}

std::error_code code_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::system_error& caught) {
    return caught.code();
  }
}

}  // namespace

ASYNC_TEST("with_deadline: gives the result of work that ends in time") {
  auto work = give_after(1ms, 7);
  const auto got = co_await with_deadline(std::move(work), 5s);
  CHECK(*got.number == 7);
  co_await with_deadline(test::pause_for(1ms), 5s);
}

ASYNC_TEST("with_deadline: throws timeout when the time has passed, and the work has ended by then") {
  bool ended = false;
  std::error_code code;
  try {
    co_await with_deadline(end_slowly(ended), 2ms);
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(ended);
  (void)code;
  const auto start = clock_type::now();
  try {
    co_await with_deadline(test::pause_for(1h), 2ms);
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(code == errc::timeout);
  CHECK(clock_type::now() - start < 1s);
}

ASYNC_TEST("with_deadline: the error of the work comes at once") {
  const auto start = clock_type::now();
  std::string thrown;
  try {
    co_await with_deadline(fail_after(1ms), 1h);
  } catch (const std::runtime_error& caught) {
    thrown = caught.what();
  }
  CHECK(thrown == "work failed");
  CHECK(clock_type::now() - start < 1s);
}

ASYNC_TEST("with_deadline: a result in spite of the timeout is not lost") {
  const int got = co_await with_deadline(give_in_spite(9), 1ms);
  CHECK(got == 9);
}

ASYNC_TEST("ends_within: the time that has passed is no error, and a timeout of the work is the work's") {
  const bool soon = co_await ends_within(test::pause_for(1ms), 1h);
  CHECK(soon);
  const bool late = co_await ends_within(test::pause_for(1h), 1ms);
  CHECK_FALSE(late);
  std::string message;
  try {
    (void)co_await ends_within(time_out(), 1h);
  } catch (const error& failed) {
    message = failed.message();
  }
  CHECK(message == "of the work");
}

ASYNC_TEST("with_deadline: a cancelled caller cancels the work, waits for its end and sees operation_aborted") {
  struct body {
    static task<void> caller(bool& ended, std::error_code& code) {
      try {
        co_await with_deadline(give_after(1h, 1), 2h);
      } catch (const std::system_error& caught) {
        code = caught.code();
      }
      (void)ended;
    }
    static task<void> slow_caller(bool& ended, bool& returned) {
      co_await with_deadline(end_slowly(ended), 2h);
      returned = ended;
    }
  };

  task_group group(co_await asio::this_coro::executor);
  bool ended = false;
  bool returned = false;
  std::error_code code;
  group.spawn(body::caller(ended, code));
  group.spawn(body::slow_caller(ended, returned));
  group.cancel();
  co_await group.join();
  CHECK(code == asio::error::operation_aborted);
  CHECK(returned);
}

ASYNC_TEST("with_deadline: an endless duration is endless") {
  co_await with_deadline(test::pause_for(1ms), clock_type::duration::max());
}

ASYNC_TEST("with_patience: a cancelled caller has the result of work that ends soon, and then sees its cancellation") {
  struct body {
    static task<void> caller(std::string& note) {
      auto giving = with_patience(give_after(20ms, 7), 5s);
      const parcel got = co_await std::move(giving);
      note += "got " + std::to_string(*got.number);
      co_await test::pause_for(1h);
      note += "not reached";
    }
  };

  task_group group(co_await asio::this_coro::executor);
  std::string note;
  group.spawn(body::caller(note));
  group.cancel();
  group.cancel();
  co_await group.join();
  CHECK(note == "got 7");
}

ASYNC_TEST("with_patience: work that does not end is cancelled when the patience of a cancelled caller is over") {
  struct body {
    static task<void> caller(std::error_code& code) {
      try {
        auto giving = with_patience(give_after(1h, 7), 5ms);
        (void)co_await std::move(giving);
      } catch (const std::system_error& caught) {
        code = caught.code();
      }
    }
  };

  task_group group(co_await asio::this_coro::executor);
  std::error_code code;
  group.spawn(body::caller(code));
  group.cancel();
  co_await group.join();
  CHECK(code == asio::error::operation_aborted);
}

ASYNC_TEST("shielded: runs in a cancelled coroutine, which then sees its cancellation") {
  struct body {
    static task<void> caller(std::string& note) {
      std::exception_ptr failure;
      try {
        co_await test::pause_for(1h);
      } catch (...) {
        failure = std::current_exception();
      }
      co_await hold_cancellation();
      co_await shielded(5s, clean(2ms, note));
      note += "back ";
      try {
        co_await test::pause_for(1h);
      } catch (const std::system_error&) {
        note += "aborted";
      }
    }
  };

  task_group group(co_await asio::this_coro::executor);
  std::string note;
  group.spawn(body::caller(note));
  group.cancel();
  co_await group.join();
  CHECK(note == "cleaning cleaned back aborted");
}

ASYNC_TEST("shielded: a cancellation in the middle does not reach the cleanup") {
  struct body {
    static task<void> caller(std::string& note) {
      co_await shielded(5s, clean(100ms, note));
      co_await test::pause_for(1h);
      note += "not reached";
    }
  };

  task_group group(co_await asio::this_coro::executor);
  std::string note;
  group.spawn(body::caller(note));
  group.cancel();
  co_await test::pause_for(1ms);
  group.cancel();
  CHECK(note == "cleaning ");
  co_await group.join();
  CHECK(note == "cleaning cleaned ");
}

ASYNC_TEST("shielded: the bound ends cleanup that takes too long") {
  std::string note;
  std::error_code code;
  try {
    co_await shielded(2ms, clean(1h, note));
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(code == errc::timeout);
  CHECK(note == "cleaning ");
}

ASYNC_TEST("shielded: the error of the cleanup is thrown") {
  std::string thrown;
  try {
    co_await shielded(5s, fail_after(1ms));
  } catch (const std::runtime_error& caught) {
    thrown = caught.what();
  }
  CHECK(thrown == "work failed");
}

ASYNC_TEST("with_cleanup: cleans up after work that returned, threw or was cancelled") {
  struct body {
    static task<void> guarded(task<void> work, std::string& note, std::exception_ptr& thrown) {
      try {
        co_await with_cleanup(std::move(work), 5s, clean(1ms, note));
      } catch (...) {
        thrown = std::current_exception();
      }
    }
  };

  std::string notes[3];
  std::exception_ptr thrown[3];
  task_group group(co_await asio::this_coro::executor);
  co_await body::guarded(test::pause_for(1ms), notes[0], thrown[0]);
  co_await body::guarded(fail_after(1ms), notes[1], thrown[1]);
  group.spawn(body::guarded(test::pause_for(1h), notes[2], thrown[2]));
  group.cancel();
  co_await group.join();
  for (const auto& note : notes) CHECK(note == "cleaning cleaned ");
  CHECK(thrown[0] == nullptr);
  CHECK_THROWS_AS(std::rethrow_exception(thrown[1]), std::runtime_error);
  CHECK(code_of(thrown[2]) == asio::error::operation_aborted);
}
