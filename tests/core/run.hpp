#pragma once
// Runs one coroutine on a fresh io_context, with a deadline, and reports what it threw.

#include "berth/task.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <stdexcept>
#include <utility>

namespace berth::test {

/// A test body is a static coroutine; captures of a coroutine lambda would die before it runs.
inline void run(task<void> body, std::chrono::seconds limit = std::chrono::seconds(10)) {
  asio::io_context io(1);
  std::exception_ptr failure;
  bool done = false;
  asio::co_spawn(io, std::move(body), [&](std::exception_ptr thrown) {
    failure = std::move(thrown);
    done = true;
  });
  io.run_for(limit);
  if (!done) throw std::runtime_error("the test did not end in time");
  if (failure) std::rethrow_exception(failure);
}

}  // namespace berth::test
