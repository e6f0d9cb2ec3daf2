/// Terminals over a backend in memory.
#include "context/fake_world.hpp"
#include "context/terminal_command.hpp"
#include "support/running.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <stdexcept>

using namespace berth;
using namespace berth::test;

namespace {

task<std::shared_ptr<fake_world>> world_with_terminals(asio::io_context& io) {
  auto world = co_await fake_world::make(io);
  world->backend->abilities.terminals = true;
  co_return world;
}

task<terminal> open(std::shared_ptr<fake_world> world, terminal_options options = {}) {
  return world->place->open_terminal(world->at, std::move(options));
}

}  // namespace

TEST_CASE("terminal: what the options say goes into the command") {
  const command shell = terminal_command(terminal_options());
  CHECK(shell.is_shell());
  CHECK(shell.terminal() == terminal_size(80, 24));
  CHECK(shell.input_from() == input_kind::stream);
  CHECK(shell.output_limit() == std::size_t{1} << 20);
  const command own = command("x").terminal(100, 50).cwd("/a").input("typed").timeout(5s);
  command what = terminal_command(terminal_options().run(own).scrollback(10));
  CHECK(what.terminal() == terminal_size(100, 50));
  CHECK(what.cwd() == "/a");
  CHECK(what.input_from() == input_kind::bytes);
  CHECK(what.timeout() == 5000ms);
  CHECK(what.output_limit() == 10);
  what = terminal_command(terminal_options().run(own).size(1, 2).cwd("/b").env("A", "1").unset_env("B"));
  CHECK(what.terminal() == terminal_size(1, 2));
  CHECK(what.cwd() == "/b");
  REQUIRE(what.env_changes().size() == 2);
  CHECK(what.env_changes()[1].name == "B");
  CHECK_FALSE(what.env_changes()[1].value);
}

ASYNC_TEST("terminal: everything is called back from the beginning, and the end comes after it") {
  const auto world = co_await world_with_terminals(io);
  world->script([](fake_run& run) { run.out("first "); });
  std::string seen;
  bool ended_before = false;
  terminal one;
  const auto on_data = [&](std::string_view bytes) {
    seen += bytes;
    ended_before = ended_before || one.status().has_value();
  };
  one = co_await open(world, terminal_options().on_data(on_data));
  CHECK(one.id() == "terminal-1");
  CHECK(one.pid() == 4711);
  world->run().out("second ").exit().out("third").end_streams();
  const exit_status status = co_await one.exited();
  CHECK(status.ok());
  CHECK(seen == "first second third");
  CHECK_FALSE(ended_before);
  CHECK(one.read(0).bytes() == seen);
  CHECK(one.read(0).ended());
}

ASYNC_TEST("terminal: several readers see the same, each with its own cursor") {
  const auto world = co_await world_with_terminals(io);
  terminal one = co_await open(world);
  auto same = world->place->terminals(world->at);
  REQUIRE(same.size() == 1);
  CHECK(world->place->backgrounds(world->at).empty());
  running<log_piece> first(io.get_executor(), one.follow(0)), second(io.get_executor(), same[0].follow(2));
  co_await pause_for(1ms);
  world->run().out("abcdef");
  const log_piece a = co_await first.result();
  const log_piece b = co_await second.result();
  CHECK(a.bytes() == "abcdef");
  CHECK(b.bytes() == "cdef");
  CHECK(one.tail(2).bytes() == "ef");
}

ASYNC_TEST("terminal: attach gives the scrollback from an offset, then what comes; detach ends that") {
  const auto world = co_await world_with_terminals(io);
  terminal one = co_await open(world, terminal_options().scrollback(8));
  world->run().out("0123456789");
  co_await one.follow(0);
  std::string seen;
  const auto add = [&](std::string_view bytes) { seen += bytes; };
  CHECK(one.attach(5, add) == 5);
  CHECK(seen == "56789");
  world->run().out("ab");
  co_await one.follow(10);
  CHECK(seen == "56789ab");
  one.detach();
  world->run().out("cd");
  co_await one.follow(12);
  CHECK(seen == "56789ab");
  std::string other;
  CHECK(one.attach(0, [&](std::string_view bytes) { other += bytes; }) == 6);
  CHECK(other == "6789abcd");
  world->run().exit().end_streams();
  co_await one.exited();
  std::string late;
  CHECK(one.attach(12, [&](std::string_view bytes) { late += bytes; }) == 12);
  CHECK(late == "cd");
}

ASYNC_TEST("terminal: a callback that throws is detached") {
  const auto world = co_await world_with_terminals(io);
  int calls = 0;
  const auto throws = [&](std::string_view) {
    ++calls;
    throw std::runtime_error("no");
  };
  terminal one = co_await open(world, terminal_options().on_data(throws));
  world->run().out("a");
  co_await one.follow(0);
  world->run().out("b");
  co_await one.follow(1);
  CHECK(calls == 1);
  CHECK(one.attach(0, throws) == 0);
  CHECK(calls == 2);
  world->run().out("c").exit().end_streams();
  const exit_status status = co_await one.exited();
  CHECK(status.ok());
  CHECK(calls == 2);
}

ASYNC_TEST("terminal: a callback may detach, attach another, or drop the terminal and its context") {
  const auto world = co_await world_with_terminals(io);
  auto one = std::make_shared<terminal>();
  std::string seen;
  const auto second = [&, one](std::string_view bytes) {
    seen += bytes;
    if (bytes.ends_with("d")) one->detach();
  };
  const auto first = [&, one, second](std::string_view bytes) {
    seen += "1:" + std::string(bytes) + ";";
    one->attach(0, second);
  };
  *one = co_await open(world);
  one->attach(0, first);
  world->run().out("ab").out("cd").out("ef");
  co_await one->follow(4);
  CHECK(seen == "1:ab;abcd");
  const auto drop = [&](std::string_view) { world->place.reset(); };
  one->attach(0, drop);
  const exit_status status = co_await one->exited();
  CHECK(status.reason() != end_reason::exited);
}

ASYNC_TEST("terminal: what is attached and holds the terminal is let go of at the end") {
  const auto world = co_await world_with_terminals(io);
  const auto held = std::make_shared<int>(0);
  for (const bool exits : {true, false}) {
    terminal one = co_await open(world);
    one.attach(0, [one, held](std::string_view) {});
    CHECK(held.use_count() > 1);
    if (exits) world->run().exit().end_streams();
    if (!exits) world->place.reset();
    co_await one.exited();
    co_await pause_for(1ms);
    CHECK(held.use_count() == 1);
  }
}

ASYNC_TEST("terminal: several may type, each write whole, and secrets too") {
  const auto world = co_await world_with_terminals(io);
  terminal one = co_await open(world);
  task_group writers(io.get_executor());
  writers.spawn(one.write("ls\n"));
  writers.spawn(one.write_secret("hunter2"));
  writers.spawn(one.write_secret(std::string(3000, 's')));
  writers.spawn(one.write("\n"));
  co_await writers.join();
  CHECK(world->run().written == "ls\nhunter2" + std::string(3000, 's') + "\n");
  world->run().exit().end_streams();
  co_await one.exited();
  std::string message;
  try {
    co_await one.write_secret("hunter2");
  } catch (const std::system_error& caught) {
    message = caught.what();
    CHECK(caught.code() == std::errc::broken_pipe);
  }
  CHECK_FALSE(message.empty());
  CHECK(message.find("hunter2") == std::string::npos);
}

ASYNC_TEST("terminal: sizes are remembered and handed on") {
  const auto world = co_await world_with_terminals(io);
  terminal one = co_await open(world, terminal_options().size(120, 40));
  CHECK(one.size() == terminal_size(120, 40));
  CHECK(world->run().what.terminal() == terminal_size(120, 40));
  one.resize(10, 20);
  CHECK(one.size() == terminal_size(10, 20));
  CHECK(world->run().sizes == std::vector<terminal_size>{terminal_size(10, 20)});
  CHECK_THROWS_AS(one.resize(0, 20), error);
  CHECK(one.size() == terminal_size(10, 20));
  one.signal(SIGINT);
  CHECK(world->run().signals == std::vector<int>{SIGINT});
  const exit_status status = co_await one.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK_NOTHROW(one.resize(11, 21));
}

ASYNC_TEST("terminal: a backend without terminals refuses") {
  const auto world = co_await fake_world::make(io);
  const auto code = co_await code_of(open(world));
  CHECK(code == errc::unsupported);
}
