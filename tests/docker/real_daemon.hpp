#pragma once
/// The daemon that tests/docker/with_daemon has started.

#include "docker/daemon_address.hpp"
#include "support/async.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

namespace berth::test {

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

/// Why there is none; empty where there is one.
inline std::string why_no_daemon() {
  if (!variable("BERTH_TEST_DOCKER").empty()) return {};
  const std::string why = variable("BERTH_TEST_NO_DOCKER");
  return why.empty() ? "not run by tests/docker/with_daemon" : why;
}

/// Empty where there is none: the test case is counted as skipped then.
inline std::vector<daemon_address> real_daemon(const char* sentence) {
  const std::string why = why_no_daemon();
  if (why.empty()) return {daemon_address{variable("BERTH_TEST_DOCKER"), "the test", std::nullopt}};
  std::printf("SKIPPED: %s: %s\n", sentence, why.c_str());
  return {};
}

}  // namespace berth::test

#define BERTH_DOCKER_TEST(body, sentence)                                                         \
  static berth::task<void> body(asio::io_context& io, std::vector<berth::daemon_address> daemon); \
  ASYNC_TEST_FOR(sentence, std::chrono::seconds(60)) {                                            \
    auto daemon = ::berth::test::real_daemon(sentence);                                           \
    if (!daemon.empty()) co_await body(io, std::move(daemon));                                    \
  }                                                                                               \
  static berth::task<void> body([[maybe_unused]] asio::io_context& io, std::vector<berth::daemon_address> daemon)

/// DOCKER_TEST("a sentence") { coroutine body; `daemon` is its address }
#define DOCKER_TEST(sentence) BERTH_DOCKER_TEST(DOCTEST_ANONYMOUS(docker_body_), sentence)
