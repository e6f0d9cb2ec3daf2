#include "context/fake_world.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <set>

using namespace berth;
using namespace berth::test;

ASYNC_TEST("context: every place has its own id, made of the type and six digits") {
  fake_world world(io);
  std::set<std::string> ids;
  for (int i = 0; i < 100; ++i) {
    const auto at = co_await world.place->spawn();
    CHECK(at.type() == "fake");
    CHECK(at.cwd() == "/home");
    ids.insert(at.id());
  }
  CHECK(ids.size() == 100);
  for (const auto& id : ids) {
    CHECK(id.size() == 11);
    CHECK(id.starts_with("fake-"));
    CHECK(id.find_first_not_of("0123456789abcdef", 5) == std::string::npos);
  }
  CHECK(world.place->handles().size() == 100);
  const context copy = *world.place;
  CHECK(copy.handles().size() == 100);
}

ASYNC_TEST("context: a command runs where it says, seen from its place") {
  fake_world world(io);
  world.script([](fake_run& run) { run.exit().end_streams(); });
  const auto at = co_await world.place->spawn(spawn_options().cwd("/app"));
  (void)co_await world.place->exec(at, "x");
  CHECK(world.run().what.cwd() == "/app");
  (void)co_await world.place->exec(at, command("x").cwd("sub/dir"));
  CHECK(world.run().what.cwd() == "/app/sub/dir");
  (void)co_await world.place->exec(at, command("x").cwd("/tmp"));
  CHECK(world.run().what.cwd() == "/tmp");
  const auto root = co_await world.place->spawn(spawn_options().cwd("/"));
  (void)co_await world.place->exec(root, command("x").cwd("sub"));
  CHECK(world.run().what.cwd() == "/sub");
}

ASYNC_TEST("context: a destroyed handle is known no more") {
  const auto world = co_await fake_world::make(io);
  co_await world->place->destroy(world->at);
  CHECK(world->backend->destroyed == std::vector<std::string>{world->at.id()});
  CHECK(world->backend->dropped.size() == 1);
  CHECK(world->place->handles().empty());
  const auto again = co_await code_of(world->place->destroy(world->at));
  CHECK(again == errc::destroyed);
  const auto exec = co_await code_of(world->exec("x"));
  CHECK(exec == errc::destroyed);
  const auto start = co_await code_of(world->start("x"));
  CHECK(start == errc::destroyed);
}

ASYNC_TEST("context: handles of others are not known") {
  const auto world = co_await fake_world::make(io);
  const auto other = co_await fake_world::make(io);
  const auto foreign = co_await code_of(world->place->exec(other->at, "x"));
  CHECK(foreign == errc::destroyed);
  const auto empty = co_await code_of(world->place->exec(handle(), "x"));
  CHECK(empty == errc::destroyed);
}

ASYNC_TEST("context: destroy while a hundred commands run ends them all") {
  const auto world = co_await fake_world::make(io);
  task_group group(io.get_executor());
  std::vector<outcome<exec_result>> results;
  for (int i = 0; i < 100; ++i) {
    results.push_back(no_outcome<exec_result>());
    group.spawn(leave(world->exec("x"), results.back()));
  }
  co_await pause_for(10ms);
  CHECK(world->backend->runs.size() == 100);
  co_await world->place->destroy(world->at);
  co_await group.join();
  for (const auto& each : results) CHECK((*each)->status == exit_status::signaled(SIGKILL));
}

ASYNC_TEST("context: two that destroy at once: the second finds it destroyed") {
  const auto world = co_await fake_world::make(io);
  auto first = world->place->destroy(world->at);
  auto second = world->place->destroy(world->at);
  co_await std::move(second);
  const auto code = co_await code_of(std::move(first));
  CHECK(code == errc::destroyed);
}

ASYNC_TEST("context: the last copy takes its places along, and commands in them are lost") {
  const auto world = co_await fake_world::make(io);
  std::optional<context> copy = world->place;
  process one = co_await world->start("x");
  task_group group(io.get_executor());
  auto result = no_outcome<exec_result>();
  group.spawn(leave(world->exec("x"), result));
  co_await pause_for(5ms);
  world->place.reset();
  CHECK(world->backend->dropped.empty());
  copy.reset();
  CHECK(world->backend->dropped.size() == 1);
  CHECK(world->backend->destroyed.empty());
  co_await group.join();
  CHECK((*result)->status == exit_status::lost("the place is gone"));
  const auto status = co_await one.wait();
  CHECK(status.reason() == end_reason::lost);
}

ASYNC_TEST("context: gone while a command is started, the command is lost") {
  const auto world = co_await fake_world::make(io);
  world->backend->hold_start.emplace(io.get_executor());
  task_group group(io.get_executor());
  auto result = no_outcome<exec_result>();
  group.spawn(leave(world->exec("x"), result));
  co_await pause_for(5ms);
  world->place.reset();
  world->backend->hold_start->notify();
  co_await group.join();
  CHECK((*result)->status.reason() == end_reason::lost);
  CHECK(world->backend->dropped.size() == 1);
}

ASYNC_TEST("context: gone while a place is made, the place is dropped") {
  fake_world world(io);
  world.backend->hold_spawn.emplace(io.get_executor());
  task_group group(io.get_executor());
  auto code = no_outcome<std::error_code>();
  group.spawn(leave(code_of(world.place->spawn()), code));
  co_await pause_for(5ms);
  CHECK(world.place->handles().empty());
  world.place.reset();
  world.backend->hold_spawn->notify();
  co_await group.join();
  CHECK(**code == errc::destroyed);
  CHECK(world.backend->dropped.size() == 1);
}

ASYNC_TEST("context: a spawn that was cancelled leaves no handle") {
  fake_world world(io);
  world.backend->hold_spawn.emplace(io.get_executor());
  task_group group(io.get_executor());
  auto at = no_outcome<handle>();
  group.spawn(leave(world.place->spawn(), at));
  co_await pause_for(5ms);
  group.cancel();
  co_await group.join();
  CHECK(!*at);
  CHECK(world.place->handles().empty());
}

ASYNC_TEST("context: says what it is") {
  fake_world world(io);
  CHECK(world.place->type() == "fake");
  CHECK(world.place->can().kills_tree);
  CHECK(world.place->get_executor() == io.get_executor());
  co_return;
}
