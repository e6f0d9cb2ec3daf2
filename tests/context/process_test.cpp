#include "context/fake_world.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace berth;
using namespace berth::test;

ASYNC_TEST("process: gives the pieces in order, then the end, and the end again") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").err("b").out("c").exit(3).end_streams(); });
  process one = co_await world->start("x");
  CHECK(one.pid() == 4711);
  CHECK(!one.status());
  const auto first = co_await one.next();
  CHECK(first->bytes() == "a");
  const auto second = co_await one.next();
  CHECK(second->bytes() == "b");
  CHECK(second->stream() == output_stream::std_err);
  const auto rest = co_await read_rest(one);
  CHECK(rest == "c");
  CHECK(one.status() == exit_status::exited(3));
  CHECK(one.usage().max_rss_bytes == 4096);
  const auto again = co_await one.next();
  CHECK(!again);
  const auto status = co_await one.wait();
  CHECK(status.code() == 3);
}

ASYNC_TEST("process: a start that failed gives no output and its reason") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.exit(exit_status::start_failed(127, "exec: no such file")).end_streams(); });
  process one = co_await world->start("x");
  const auto piece = co_await one.next();
  CHECK(!piece);
  CHECK(one.status()->reason() == end_reason::start_failed);
  const auto status = co_await one.kill();
  CHECK(status.code() == 127);
  CHECK(world->run().kills.empty());
}

ASYNC_TEST("process: wait drains what nobody reads") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) {
    for (int i = 0; i < 1000; ++i) run.out(std::string(1000, 'x'));
    run.exit().end_streams();
  });
  process one = co_await world->start("x");
  const auto status = co_await one.wait();
  CHECK(status.ok());
  CHECK(world->run().unread() == 0);
}

ASYNC_TEST("process: streams that a leftover holds open are given up and handed back") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").exit(); });
  process one = co_await world->start("x");
  const auto began = std::chrono::steady_clock::now();
  const auto all = co_await read_rest(one);
  const auto took = std::chrono::steady_clock::now() - began;
  CHECK(all == "a");
  CHECK(took >= 250ms);
  CHECK(took < 1s);
  CHECK(one.streams_open());
  CHECK(one.status()->ok());
  CHECK(world->run().abandoned);
  CHECK(world->run().kills.empty());
}

ASYNC_TEST("process: cancelling next() ends the wait alone") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  task_group group(io.get_executor());
  auto lost = no_outcome<std::optional<chunk>>();
  group.spawn(leave(one.next(), lost));
  co_await pause_for(5ms);
  CHECK(world->run().pending_reads == 1);
  group.cancel();
  co_await group.join();
  CHECK(!*lost);
  world->run().out("kept").exit().end_streams();
  const auto all = co_await read_rest(one);
  CHECK(all == "kept");
  CHECK(one.status()->ok());
}

ASYNC_TEST("process: a second reader is refused, the first goes on") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  task_group group(io.get_executor());
  auto first = no_outcome<std::optional<chunk>>();
  group.spawn(leave(one.next(), first));
  const auto refused = co_await code_of(one.next());
  CHECK(refused == errc::conflict);
  const auto wait_refused = co_await code_of(one.wait());
  CHECK(wait_refused == errc::conflict);
  world->run().out("a").exit().end_streams();
  co_await group.join();
  REQUIRE(*first);
  CHECK((**first)->bytes() == "a");
}

ASYNC_TEST("process: kill without a reader keeps what came") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").err("b"); });
  process one = co_await world->start(command("x").grace(700ms));
  const auto status = co_await one.kill();
  CHECK(status == exit_status(end_reason::cancelled, 143, SIGTERM));
  CHECK(one.status() == status);
  REQUIRE(world->run().kills.size() == 1);
  CHECK(world->run().kills[0] == 700ms);
  const auto all = co_await read_rest(one);
  CHECK(all == "ab");
}

ASYNC_TEST("process: kill while another coroutine reads leaves the reading to it") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  task_group group(io.get_executor());
  auto all = no_outcome<std::string>();
  group.spawn(leave(read_rest(one), all));
  co_await pause_for(5ms);
  world->run().on_kill = [](fake_run& run, std::chrono::milliseconds grace) {
    run.out("last words");
    fake_run::die(run, grace);
  };
  const auto status = co_await one.kill();
  CHECK(status.reason() == end_reason::cancelled);
  co_await group.join();
  CHECK(**all == "last words");
}

ASYNC_TEST("process: next() while kill waits gets what comes, and then the end") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  world->run().on_kill = fake_run::ignore;
  task_group group(io.get_executor());
  auto status = no_outcome<exit_status>();
  group.spawn(leave(one.kill(), status));
  auto all = no_outcome<std::string>();
  group.spawn(leave(read_rest(one), all));
  co_await pause_for(5ms);
  world->run().out("a").out("b");
  co_await pause_for(5ms);
  world->run().out("c");
  fake_run::die(world->run(), 0ms);
  co_await group.join();
  CHECK(**all == "abc");
  CHECK((*status)->code() == 137);
}

ASYNC_TEST("process: a reader that stops reading does not hold up a kill") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  world->run().on_kill = fake_run::ignore;
  task_group group(io.get_executor());
  auto piece = no_outcome<std::optional<chunk>>();
  group.spawn(leave(one.next(), piece));
  auto status = no_outcome<exit_status>();
  group.spawn(leave(one.kill(), status));
  co_await pause_for(5ms);
  world->run().out("a").out("b");
  fake_run::die(world->run(), 2s);
  co_await group.join();
  CHECK((**piece)->bytes() == "a");
  const auto rest = co_await read_rest(one);
  CHECK(rest == "b");
}

ASYNC_TEST("process: a kill that nobody reads beside keeps a bounded amount until KILL is due") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) {
    for (int i = 0; i < 40; ++i) run.out(std::string(64 << 10, 'x'));
  });
  process one = co_await world->start(command("x").grace(500ms));
  world->run().on_kill = fake_run::ignore;
  task_group group(io.get_executor());
  auto status = no_outcome<exit_status>();
  group.spawn(leave(one.kill(), status));
  co_await pause_for(50ms);
  CHECK(world->run().unread() == 24);
  fake_run::die(world->run(), 0ms);
  co_await group.join();
  CHECK((*status)->reason() == end_reason::cancelled);
  const auto all = co_await read_rest(one);
  CHECK(all.size() == 40 * (64 << 10));
}

ASYNC_TEST("process: kill of a command that has ended is for what it left") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.exit(4); });
  process one = co_await world->start("x");
  (void)co_await one.wait();
  CHECK(one.streams_open());
  const auto status = co_await one.kill();
  CHECK(status == exit_status::exited(4));
  CHECK(world->run().kills.size() == 1);
  const auto again = co_await one.kill();
  CHECK(again == status);
  CHECK(world->run().kills.size() == 1);
}

ASYNC_TEST("process: an exit that nobody has read comes before a kill") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.exit().end_streams(); });
  process one = co_await world->start("x");
  const auto status = co_await one.kill();
  CHECK(status.ok());
}

ASYNC_TEST("process: cancelling kill() ends the wait alone") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  world->run().on_kill = fake_run::ignore;
  task_group group(io.get_executor());
  auto status = no_outcome<exit_status>();
  group.spawn(leave(one.kill(), status));
  co_await pause_for(5ms);
  group.cancel();
  co_await group.join();
  CHECK(!*status);
  fake_run::die(world->run(), 2s);
  const auto end = co_await one.wait();
  CHECK(end.reason() == end_reason::cancelled);
}

ASYNC_TEST("process: one that is dropped unread goes to its backend, which kills") {
  const auto world = co_await fake_world::make(io);
  {
    const process one = co_await world->start(command("x").timeout(1h));
    CHECK(!world->run().destroyed);
  }
  CHECK(world->run().destroyed);
  process two = co_await world->start("x");
  auto& run = world->run();
  two = process();
  CHECK(run.destroyed);
}

ASYNC_TEST("process: one that is dropped while it is read is killed, and the reader sees the end") {
  const auto world = co_await fake_world::make(io);
  std::optional<process> one(co_await world->start("x"));
  task_group group(io.get_executor());
  auto status = no_outcome<exit_status>();
  group.spawn(leave(one->wait(), status));
  co_await pause_for(5ms);
  one.reset();
  co_await group.join();
  CHECK((*status)->signal() == SIGKILL);
  CHECK(world->run().kills == std::vector<std::chrono::milliseconds>{0ms});
  CHECK(world->run().destroyed);
}

ASYNC_TEST("process: a task made before its process was dropped ends at once") {
  const auto world = co_await fake_world::make(io);
  std::optional<process> one(co_await world->start("x"));
  auto reading = one->next();
  auto waiting = one->wait();
  one.reset();
  const auto piece = co_await std::move(reading);
  CHECK(!piece);
  const auto status = co_await std::move(waiting);
  CHECK(status.reason() == end_reason::cancelled);
}

ASYNC_TEST("process: one that is dropped during its drain leaves the streams to the place") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.exit().out("late"); });
  std::optional<process> one(co_await world->start("x"));
  (void)co_await one->next();
  one.reset();
  CHECK(world->run().abandoned);
  CHECK(world->run().kills.empty());
}

ASYNC_TEST("process: an empty one answers without a backend") {
  process none;
  CHECK(none.pid() == 0);
  CHECK(!none.status());
  CHECK(!none.streams_open());
  CHECK(none.survivors().empty());
  CHECK_THROWS_AS(none.signal(SIGTERM), error);
  CHECK_THROWS_AS((void)none.next(), error);
  co_return;
}

ASYNC_TEST("process: signals go to the command until it has ended") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  one.signal(SIGUSR1);
  CHECK(world->run().signals == std::vector<int>{SIGUSR1});
  CHECK_THROWS_AS(one.signal(0), error);
  CHECK_THROWS_AS(one.signal(65), error);
  world->run().exit().end_streams();
  one.signal(SIGUSR1);
  CHECK(world->run().signals.size() == 1);
}
