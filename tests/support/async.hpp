#pragma once
/// Tests whose body is a coroutine.

#include <berth/task.hpp>

#include <doctest/doctest.h>
#include <asio/io_context.hpp>

#include <chrono>
#include <functional>

namespace berth::test {

using async_body = std::function<task<void>(asio::io_context& io)>;

/// Runs the body on a fresh io_context and fails the current test case if
/// - it throws, or has not ended when the time has passed;
/// - work is left in the io_context once it ended;
/// - anything is left that `leak_check` knows: processes, descriptors, temporary files.
///
/// While it runs, BERTH_TEST_ID in the environment marks what the body starts.
void run_async(async_body body, std::chrono::milliseconds limit);

}  // namespace berth::test

#define BERTH_ASYNC_TEST(name, sentence, limit)                  \
  static berth::task<void> name(asio::io_context& io);           \
  TEST_CASE(sentence) { ::berth::test::run_async(name, limit); } \
  static berth::task<void> name([[maybe_unused]] asio::io_context& io)

/// ASYNC_TEST("a sentence of behaviour") { coroutine body; `io` is its asio::io_context }
///
/// The body needs at least one co_await or co_return. It may use doctest's assertions.
#define ASYNC_TEST(sentence) ASYNC_TEST_FOR(sentence, std::chrono::seconds(10))

/// The same with another deadline than 10 s.
#define ASYNC_TEST_FOR(sentence, limit) BERTH_ASYNC_TEST(DOCTEST_ANONYMOUS(async_body_), sentence, limit)
