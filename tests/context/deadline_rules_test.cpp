#include "context/fake_world.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace berth;
using namespace berth::test;

ASYNC_TEST("deadline: ends a command that is read") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start(command("x").timeout(30ms).grace(400ms));
  const auto status = co_await one.wait();
  CHECK(status == exit_status(end_reason::timed_out, 124, SIGTERM));
  CHECK(world->run().kills == std::vector<std::chrono::milliseconds>{400ms});
}

ASYNC_TEST("deadline: fires when nobody reads") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start(command("x").timeout(20ms));
  world->run().out("unread");
  co_await pause_for(60ms);
  CHECK(world->run().kills.size() == 1);
  const auto all = co_await read_rest(one);
  CHECK(all == "unread");
  CHECK(one.status()->reason() == end_reason::timed_out);
}

ASYNC_TEST("deadline: does not touch a command that ended unread before it") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").exit().end_streams(); });
  process one = co_await world->start(command("x").timeout(20ms));
  co_await pause_for(60ms);
  CHECK(world->run().kills.empty());
  const auto all = co_await read_rest(one);
  CHECK(all == "a");
  CHECK(one.status()->ok());
}

ASYNC_TEST("deadline: during the drain it stops the reading") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.exit(); });
  process one = co_await world->start(command("x").timeout(20ms));
  const auto began = std::chrono::steady_clock::now();
  const auto status = co_await one.wait();
  CHECK(std::chrono::steady_clock::now() - began < 240ms);
  CHECK(status.ok());
  CHECK(one.streams_open());
  CHECK(world->run().kills.empty());
}

ASYNC_TEST("deadline: after a kill it changes nothing") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start(command("x").timeout(20ms));
  const auto status = co_await one.kill();
  co_await pause_for(40ms);
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(world->run().kills.size() == 1);
}

ASYNC_TEST("idle deadline: ends a silent command") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a"); });
  process one = co_await world->start(command("x").idle_timeout(30ms));
  const auto all = co_await read_rest(one);
  CHECK(all == "a");
  CHECK(one.status() == exit_status(end_reason::idle_timed_out, 124, SIGTERM));
}

ASYNC_TEST("idle deadline: time in which nobody reads does not count") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start(command("x").idle_timeout(150ms));
  co_await pause_for(200ms);
  CHECK(world->run().kills.empty());
  world->run().out("a");
  (void)co_await one.next();
  co_await pause_for(200ms);
  world->run().out("b").exit().end_streams();
  const auto rest = co_await read_rest(one);
  CHECK(rest == "b");
  CHECK(one.status()->ok());
}

ASYNC_TEST("idle deadline: cancelled waits add up") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start(command("x").idle_timeout(500ms));
  for (int i = 0; i < 3; ++i) {
    task_group group(io.get_executor());
    group.spawn(leave(one.next(), no_outcome<std::optional<chunk>>()));
    co_await pause_for(150ms);
    group.cancel();
    co_await group.join();
  }
  const auto began = std::chrono::steady_clock::now();
  const auto status = co_await one.wait();
  CHECK(std::chrono::steady_clock::now() - began < 400ms);
  CHECK(status.reason() == end_reason::idle_timed_out);
}

ASYNC_TEST("leftovers: end_leftovers waits until they are gone") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").exit(2).end_streams(); });
  process one = co_await world->start(command("x").end_leftovers());
  task_group group(io.get_executor());
  auto status = no_outcome<exit_status>();
  group.spawn(leave(one.wait(), status));
  co_await pause_for(20ms);
  CHECK(!*status);
  std::vector<survivor> left(1);
  left[0].name = "sudo";
  world->run().end_tree(std::move(left));
  co_await group.join();
  CHECK((*status)->code() == 2);
  CHECK(one.survivors().size() == 1);
  CHECK(world->run().kills.empty());
}

ASYNC_TEST("lost: a place lost in the middle ends the streams") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").lose("reset"); });
  process one = co_await world->start("x");
  const auto all = co_await read_rest(one);
  CHECK(all == "a");
  CHECK(one.status() == exit_status::lost("reset"));
  const auto killed = co_await one.kill();
  CHECK(killed.reason() == end_reason::lost);
  CHECK(world->run().kills.empty());
}
