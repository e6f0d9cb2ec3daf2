#include "support/async.hpp"

#include "support/leaks.hpp"

#include <asio/bind_cancellation_slot.hpp>
#include <asio/cancellation_signal.hpp>
#include <asio/co_spawn.hpp>

#include <exception>

namespace berth::test {
namespace {

using clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct body_end {
  bool ended = false;
  std::exception_ptr failure;
};

void run_until_ended(asio::io_context& io, const body_end& end, clock::time_point deadline) {
  while (!end.ended && clock::now() < deadline) {
    if (io.run_one_until(deadline) == 0 && io.stopped()) return;
  }
}

void end_late_body(asio::io_context& io, const body_end& end, asio::cancellation_signal& cancel) {
  if (io.stopped()) {
    FAIL_CHECK("the body waits for something that can never come: the io_context has no work");
    return;
  }
  FAIL_CHECK("the body did not end in its time");
  cancel.emit(asio::cancellation_type::terminal);
  run_until_ended(io, end, clock::now() + 5s);
  if (!end.ended) FAIL_CHECK("nor did it end when it was cancelled");
}

}  // namespace

void run_async(async_body body, std::chrono::milliseconds limit) {
  leak_check leaks;
  body_end end;
  {
    asio::io_context io(1);
    asio::cancellation_signal cancel;
    const auto on_end = [&end](std::exception_ptr failure) {
      end.failure = std::move(failure);
      end.ended = true;
    };
    asio::co_spawn(io, body(io), asio::bind_cancellation_slot(cancel.slot(), on_end));
    run_until_ended(io, end, clock::now() + limit);
    if (!end.ended) end_late_body(io, end, cancel);
    if (end.ended) io.run_for(2s);
    if (end.ended && !io.stopped()) FAIL_CHECK("work is left in the io_context");
  }
  for (const std::string& left : leaks.left_over()) FAIL_CHECK(left);
  if (end.failure) std::rethrow_exception(end.failure);
}

}  // namespace berth::test
