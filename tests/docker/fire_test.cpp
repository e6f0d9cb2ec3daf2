/// Frames over a connection that is cut, delayed, reset, split and swallowed: the right result or `lost`, and in time.
#include "docker/bad_link.hpp"
#include "docker/container.hpp"
#include "docker/places.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

/// 0 to 255, some times over: what a terminal, a text or a frame would spoil.
std::string all_bytes(int times) {
  std::string bytes;
  for (int i = 0; i < 256 * times; ++i) bytes += static_cast<char>(i);
  return bytes;
}

std::string numbers_to(int last) {
  std::string lines;
  for (int i = 1; i <= last; ++i) lines += std::to_string(i) + "\n";
  return lines;
}

/// One command with bytes both ways and both streams, whose result is known to the byte.
task<void> try_exact(context& place, handle where) {
  const std::string in = all_bytes(20);
  const exec_result echoed =
      co_await place.exec(where, command("cat; echo err >&2; exit 7").input(in).timeout(command_takes));
  CHECK_MESSAGE(echoed.status.code() == 7, describe(echoed.status));
  CHECK((echoed.std_out == in));
  CHECK(echoed.std_err == "err\n");
  const exec_result counted = co_await place.exec(where, command("seq 1 4000").timeout(command_takes));
  CHECK_MESSAGE(counted.status.ok(), describe(counted.status));
  CHECK(counted.std_out.size() == numbers_to(4000).size());
  CHECK((counted.std_out == numbers_to(4000)));
}

task<void> try_link(asio::io_context& io, std::vector<daemon_address> daemon, link_kind kind) {
  bad_link link(io, kind, daemon.front().url);
  context place = make_place(io, small_container(link.url()), false);
  const handle where = co_await place.spawn();
  co_await try_exact(place, where);
  link.faults().piece = 1;
  co_await try_exact(place, where);
  link.faults().piece = 1000;
  link.faults().delay = 5ms;
  co_await try_exact(place, where);
  // So slow that one frame takes longer than a drain would wait.
  link.faults().delay = 40ms;
  co_await try_exact(place, where);
  CHECK(link.attached() == 1);
  co_await place.destroy(where);
}

/// Cut at many places, first by an end, then by a reset: every command goes on over the next connection.
task<void> try_cuts(asio::io_context& io, std::vector<daemon_address> daemon, link_kind kind, bool down) {
  bad_link link(io, kind, daemon.front().url);
  context place = make_place(io, small_container(link.url()), false);
  const handle where = co_await place.spawn();
  int cuts = 0;
  for (const std::size_t after : {1, 3, 8, 9, 12, 20, 21, 37, 64, 100, 1000, 4096, 5000, 9999}) {
    CAPTURE(after);
    link.faults().reset = cuts % 2 == 1;
    (down ? link.faults().cut_down : link.faults().cut_up) = after;
    co_await try_exact(place, where);
    ++cuts;
  }
  CHECK(link.attached() > cuts / 2);
  co_await place.destroy(where);
  const auto left = co_await containers_of_test(io, daemon);
  CHECK(left.empty());
}

task<int> break_again_and_again(bad_link& link) {
  for (;;) {
    co_await pause_for(300ms);
    link.cut_all();
  }
}

}  // namespace

DOCKER_TEST("fire: single bytes and delays change nothing, over tcp") { co_await try_link(io, daemon, link_kind::tcp); }
DOCKER_TEST("fire: single bytes and delays change nothing, over a unix socket") {
  co_await try_link(io, daemon, link_kind::unix_socket);
}
DOCKER_TEST("fire: cut anywhere on the way from the daemon, commands go on, over tcp") {
  co_await try_cuts(io, daemon, link_kind::tcp, true);
}
DOCKER_TEST("fire: cut anywhere on the way to the daemon, commands go on, over tcp") {
  co_await try_cuts(io, daemon, link_kind::tcp, false);
}
DOCKER_TEST("fire: cut anywhere on the way from the daemon, commands go on, over a unix socket") {
  co_await try_cuts(io, daemon, link_kind::unix_socket, true);
}

DOCKER_TEST("fire: all connections cut again and again, many commands at once, each gets its own output") {
  bad_link link(io, link_kind::tcp, daemon.front().url);
  context place = make_place(io, small_container(link.url()), false);
  const handle where = co_await place.spawn();
  auto breaking = running(io.get_executor(), break_again_and_again(link));
  std::vector<running<exec_result>> all;
  for (int i = 0; i < 16; ++i) {
    const std::string text = "for n in 1 2 3 4 5 6 7 8 9 10; do echo " + std::to_string(i) + " $n; sleep 0.2; done";
    all.emplace_back(io.get_executor(), place.exec(where, command(text).timeout(command_takes)));
  }
  for (int i = 0; i < 16; ++i) {
    const exec_result result = co_await all[static_cast<std::size_t>(i)].result();
    std::string expected;
    for (int n = 1; n <= 10; ++n) expected += std::to_string(i) + " " + std::to_string(n) + "\n";
    CHECK_MESSAGE(result.status.ok(), describe(result.status));
    CHECK(result.std_out == expected);
  }
  breaking.cancel();
  while (!breaking.ended()) co_await pause_for(10ms);
  co_await place.destroy(where);
}

DOCKER_TEST("fire: a connection that swallows all, and a deadline, which answers; then a new one") {
  bad_link link(io, link_kind::tcp, daemon.front().url);
  context place = make_place(io, small_container(link.url()), false);
  const handle where = co_await place.spawn();
  auto late = running(io.get_executor(), place.exec(where, command("echo began; sleep 1000").timeout(3s)));
  co_await pause_for(500ms);
  link.faults().swallow = true;
  link.faults().everywhere = true;
  const auto began = std::chrono::steady_clock::now();
  const exec_result result = co_await late.result();
  CHECK(result.status.reason() == end_reason::lost);
  CHECK(result.std_out == "began\n");
  // 3 s, a grace of 2 s, and what it takes to be sure.
  CHECK(std::chrono::steady_clock::now() - began < 20s);
  const exec_result never_began = co_await place.exec(where, command("echo no").timeout(1s));
  CHECK(never_began.status.reason() == end_reason::timed_out);
  link.faults() = {};
  const exec_result after = co_await place.exec(where, command("echo after").timeout(command_takes));
  CHECK(after.std_out == "after\n");
  co_await place.destroy(where);
}

DOCKER_TEST("fire: a daemon that stays away beyond the lease") {
  bad_link link(io, link_kind::tcp, daemon.front().url);
  docker_context_options options = small_container(link.url());
  options.lease = 3s;
  context place = make_place(io, options, false);
  const handle where = co_await place.spawn();
  auto waits = running(io.get_executor(), place.exec(where, command("sleep 1000").timeout(command_takes)));
  co_await pause_for(300ms);
  link.faults().refuse = true;
  link.cut_all();
  const exec_result result = co_await waits.result();
  CHECK(result.status.reason() == end_reason::lost);
  CHECK_MESSAGE(result.status.message().find("lease") != std::string::npos, result.status.message());
  // The container has ended itself.
  std::size_t left = 1;
  for (int i = 0; i < 100 && left > 0; ++i) {
    const auto all = co_await containers_of_test(io, daemon);
    left = all.size();
    co_await pause_for(100ms);
  }
  CHECK(left == 0);
  link.faults() = {};
  co_await place.destroy(where);
}

DOCKER_TEST("fire: a spawn whose connections are cut fails or works, and leaves nothing that runs") {
  int worked = 0;
  for (const std::size_t after : {1, 100, 500, 1000, 2000, 4000, 8000}) {
    bad_link link(io, link_kind::tcp, daemon.front().url);
    context place = make_place(io, small_container(link.url()), false);
    link.faults().everywhere = true;
    link.faults().cut_down = after;
    try {
      const handle where = co_await place.spawn();
      const exec_result result = co_await place.exec(where, command("echo hi").timeout(command_takes));
      CHECK(result.std_out == "hi\n");
      co_await place.destroy(where);
      ++worked;
    } catch (const error& failure) {
      CHECK_FALSE(std::string(failure.what()).empty());
    }
  }
  CHECK(worked > 0);
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  const auto left = co_await containers_of_test(io, daemon);
  for (const std::string& id : left) {
    const container one(engine, id);
    const auto state = co_await one.state();
    CHECK((!state || !state->running));
    co_await one.remove();
  }
}
