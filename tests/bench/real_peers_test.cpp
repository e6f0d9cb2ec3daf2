// The peers of bench/peers, those that can run here: each does its work, and says so where it went wrong.

#include "suite/peer.hpp"
#include "support/async.hpp"

#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>

using namespace berth;
using namespace berth::suite;
using namespace berth::test;

namespace {

using namespace std::chrono_literals;

/// As it is in the source tree, else as ./dev bench --peers made it.
peer_program program_called(const std::string& name) {
  const std::string root = BERTH_SOURCE_DIR;
  peer_program found;
  for (const auto& folder : {root + "/build/peers", root + "/bench/peers"}) {
    if (!std::filesystem::exists(folder)) continue;
    for (auto& each : peers_in(folder)) {
      if (each.name == name && (found.name.empty() || each.lacks.empty())) found = std::move(each);
    }
  }
  REQUIRE(found.name == name);
  return found;
}

task<void> check_does(shared_peer its, std::string request) {
  CAPTURE(request);
  const double micros = co_await ask_peer(its, request);
  CHECK(micros > 10);
  CHECK(micros < 60e6);
}

task<void> check_fails(shared_peer its, std::string request) {
  CAPTURE(request);
  std::string told;
  try {
    co_await ask_peer(its, request);
  } catch (const std::runtime_error& failure) {
    told = failure.what();
  }
  CHECK(told != "");
  CHECK(its->failure == "");  // it is still there
}

/// Twice each: the second must not depend on what the first left.
task<void> check_terminal(shared_peer its) {
  const std::string request = "pty\t20\t/bin/sh\t-c\tstty raw -echo; printf x; exec cat";
  for (int i = 0; i < 2; ++i) co_await check_does(its, request);
}

task<void> check_commands(shared_peer its) {
  for (int i = 0; i < 2; ++i) {
    co_await check_does(its, "exec\t1\t/bin/true");
    co_await check_does(its, "exec64\t8\t/bin/sh\t-c\techo out; echo err >&2");
    co_await check_does(its, "stream\t1000000\thead\t-c\t1000000\t/dev/zero");
    co_await check_does(its, "first-byte\t1\t/bin/echo\tx");
    co_await check_fails(its, "exec\t1\t/bin/false");
    co_await check_fails(its, "exec\t1\t/nowhere/at/all");
    co_await check_fails(its, "exec64\t4\t/bin/false");
    co_await check_fails(its, "stream\t5\thead\t-c\t4\t/dev/zero");
    co_await check_fails(its, "stream\t4\t/bin/sh\t-c\tprintf 1234; exit 1");
    co_await check_fails(its, "first-byte\t1\t/bin/true");
    co_await check_fails(its, "nothing\t1\t/bin/true");
  }
}

task<void> check_peer(asio::io_context& io, std::string name) {
  const auto its = std::make_shared<peer>(io, program_called(name));
  if (!its->program.lacks.empty()) {
    std::printf("SKIPPED: peers: %s: %s\n", name.c_str(), its->program.lacks.c_str());
    co_return;
  }
  co_await open_peer(its);
  CHECK(its->version != "");
  if (its->program.works.front().bench == "pty")
    co_await check_terminal(its);
  else
    co_await check_commands(its);
  co_await close_peer(its);
}

}  // namespace

ASYNC_TEST_FOR("peers: node-child_process", 60s) { co_await check_peer(io, "node-child_process"); }
ASYNC_TEST_FOR("peers: node-execa", 60s) { co_await check_peer(io, "node-execa"); }
ASYNC_TEST_FOR("peers: node-pty", 60s) { co_await check_peer(io, "node-pty"); }
ASYNC_TEST_FOR("peers: python-subprocess", 60s) { co_await check_peer(io, "python-subprocess"); }
ASYNC_TEST_FOR("peers: python-asyncio", 60s) { co_await check_peer(io, "python-asyncio"); }
ASYNC_TEST_FOR("peers: rust-std", 60s) { co_await check_peer(io, "rust-std"); }
