#include "context/fake_world.hpp"

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;

ASYNC_TEST("stdin: what is written arrives, then the end, once") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start(command("x").input_stream());
  co_await one.write("ab");
  co_await one.write("");
  co_await one.write("c");
  CHECK(world->run().written == "abc");
  co_await one.close_stdin();
  co_await one.close_stdin();
  CHECK(world->run().stdin_closed);
  const auto late = co_await code_of(one.write("d"));
  CHECK(late == std::errc::broken_pipe);
}

ASYNC_TEST("stdin: only a command with input_stream can be written to") {
  const auto world = co_await fake_world::make(io);
  process one = co_await world->start("x");
  const auto refused = co_await code_of(one.write("a"));
  CHECK(refused == errc::invalid_argument);
  const auto close_refused = co_await code_of(one.close_stdin());
  CHECK(close_refused == errc::invalid_argument);
}

ASYNC_TEST("stdin: a command that closes its end is a broken pipe") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.stdin_room = 1; });
  process one = co_await world->start(command("x").input_stream());
  task_group group(io.get_executor());
  auto code = no_outcome<std::error_code>();
  group.spawn(leave(code_of(one.write("abc")), code));
  const auto second = co_await code_of(one.write("d"));
  CHECK(second == errc::conflict);
  world->run().close_input();
  co_await group.join();
  CHECK(**code == std::errc::broken_pipe);
}

ASYNC_TEST("stdin: the end waits for a write that is under way, even if that is cancelled") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.stdin_room = 1; });
  process one = co_await world->start(command("x").input_stream());
  task_group group(io.get_executor());
  group.spawn(one.write("abc"));
  co_await one.close_stdin();
  CHECK(!world->run().stdin_closed);
  group.cancel();
  co_await group.join();
  CHECK(world->run().stdin_closed);
}

ASYNC_TEST("stdin: bytes are fed beside the reading, and a command that reads none is not held up") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").exit().end_streams(); });
  const auto result = co_await world->exec(command("x").input(std::string(8 << 20, 'x')));
  CHECK(result.ok());
  CHECK(result.std_out == "a");
  CHECK(world->run().what.input_bytes().empty());
  CHECK(world->run().what.input_from() == input_kind::bytes);
}

ASYNC_TEST("stdin: the end follows the bytes") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.stdin_room = 16; });
  process one = co_await world->start(command("x").input("hello"));
  CHECK(world->run().written == "hello");
  CHECK(world->run().stdin_closed);
  process empty = co_await world->start(command("x").input(""));
  CHECK(world->run().stdin_closed);
}

ASYNC_TEST("stdin: a process that is dropped while it is fed goes") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.stdin_room = 1; });
  {
    const process one = co_await world->start(command("x").input("hello"));
    CHECK(world->run().written == "h");
  }
  co_await pause_for(5ms);
  CHECK(world->run().destroyed);
}

ASYNC_TEST("stdin: a backend that cannot be written to gets the bytes with the command") {
  const auto world = co_await fake_world::make(io);
  world->backend->abilities.stdin_stream = false;
  world->script([](fake_run& run) { run.exit().end_streams(); });
  const auto result = co_await world->exec(command("x").input("hello"));
  CHECK(result.ok());
  CHECK(world->run().what.input_bytes() == "hello");
  CHECK(world->run().written.empty());
  const auto refused = co_await code_of(world->start(command("x").input_stream()));
  CHECK(refused == errc::unsupported);
}
