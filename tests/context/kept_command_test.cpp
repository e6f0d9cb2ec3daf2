/// Background commands over a backend in memory: what is read, awaited, written and ended.
#include "context/fake_world.hpp"
#include "support/running.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <fstream>
#include <sstream>

using namespace berth;
using namespace berth::test;

namespace {

using output_stream::std_out;
constexpr auto err = output_stream::std_err;

std::string content(const std::string& path) {
  std::ostringstream all;
  all << std::ifstream(path).rdbuf();
  return all.str();
}

}  // namespace

ASYNC_TEST("background: its output is in the log without a reader, then its end") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  CHECK(one.pid() == 4711);
  CHECK(one.id() == "background-1");
  CHECK(world->run().what.is_background());
  world->run().out("abc").err("e").out("def");
  const log_piece piece = co_await one.follow(std_out, 3);
  CHECK(piece.bytes() == "def");
  CHECK(one.read(err, 0).bytes() == "e");
  CHECK_FALSE(one.status());
  world->run().exit(3).end_streams();
  const exit_status status = co_await one.wait();
  CHECK(status == exit_status::exited(3));
  CHECK(one.status() == status);
  CHECK(one.usage().max_rss_bytes == 4096);
  CHECK(one.read(std_out, 0).ended());
  CHECK(one.tail(std_out, 2).bytes() == "ef");
  CHECK_FALSE(one.streams_open());
}

ASYNC_TEST("background: follow gives each byte once, then the end") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  const auto read = [](background from) -> task<std::string> {
    std::string all;
    std::uint64_t next = 0;
    for (;;) {
      const log_piece piece = co_await from.follow(std_out, next, 7);
      all += piece.bytes();
      next = piece.next();
      if (piece.ended()) co_return all;
    }
  };
  running<std::string> first(io.get_executor(), read(one)), second(io.get_executor(), read(one));
  std::string expected;
  for (int i = 0; i < 50; ++i) {
    expected += std::to_string(i) + " ";
    world->run().out(std::to_string(i) + " ");
    if (i % 7 == 0) co_await pause_for(1ms);
  }
  world->run().exit().end_streams();
  const std::string a = co_await first.result();
  const std::string b = co_await second.result();
  CHECK(a == expected);
  CHECK(b == expected);
}

ASYNC_TEST("background: a cancelled wait ends the wait alone") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  running<exit_status> waiting(io.get_executor(), one.wait());
  running<log_piece> following(io.get_executor(), one.follow(std_out, 0));
  running<std::optional<output_match>> looking(io.get_executor(), one.wait_for_output("y", 5s));
  running<bool> listening(io.get_executor(), one.wait_for_port(80, 5s));
  world->run().on_kill = fake_run::ignore;
  running<exit_status> killing(io.get_executor(), one.kill());
  co_await pause_for(2ms);
  waiting.cancel();
  following.cancel();
  looking.cancel();
  listening.cancel();
  killing.cancel();
  const auto aborted = make_error_code(asio::error::operation_aborted);
  auto code = co_await code_of(waiting.result());
  CHECK(code == aborted);
  code = co_await code_of(following.result());
  CHECK(code == aborted);
  code = co_await code_of(looking.result());
  CHECK(code == aborted);
  code = co_await code_of(listening.result());
  CHECK(code == aborted);
  code = co_await code_of(killing.result());
  CHECK(code == aborted);
  world->run().out("y").exit(exit_status::signaled(SIGTERM)).end_streams().end_tree();
  const exit_status status = co_await one.wait();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(one.read(std_out, 0).bytes() == "y");
}

ASYNC_TEST("background: dropping it leaves it running, and it is found again") {
  const auto world = co_await fake_world::make(io);
  {
    background one = co_await world->keep("x");
    world->run().out("before ");
  }
  co_await pause_for(2ms);
  CHECK(world->run().kills.empty());
  CHECK_FALSE(world->run().destroyed);
  world->run().out("after");
  auto all = world->place->backgrounds(world->at);
  REQUIRE(all.size() == 1);
  const log_piece piece = co_await all[0].follow(std_out, 7);
  CHECK(piece.bytes() == "after");
  CHECK(all[0].read(std_out, 0).bytes() == "before after");
}

ASYNC_TEST("background: kill ends the tree, and what came before is in the log") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep(command("x").grace(70ms));
  world->run().out("some");
  const exit_status status = co_await one.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(status.signal() == SIGTERM);
  CHECK(one.read(std_out, 0).bytes() == "some");
  CHECK(one.read(std_out, 0).ended());
  REQUIRE(world->run().kills.size() == 1);
  CHECK(world->run().kills[0] == 70ms);
  const exit_status again = co_await one.kill();
  CHECK(again == status);
}

ASYNC_TEST("background: destroying the handle ends it as cancelled, and waiters get their answers") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  background ended = co_await world->keep("y");
  world->run().out("z").exit(4).end_streams();
  background signalled = co_await world->keep("z");
  world->run().exit(exit_status::signaled(SIGSEGV)).end_streams();
  co_await signalled.wait();
  running<exit_status> waiting(io.get_executor(), one.wait());
  running<log_piece> following(io.get_executor(), one.follow(std_out, 0));
  running<std::optional<output_match>> looking(io.get_executor(), one.wait_for_output("y", 60s));
  running<bool> listening(io.get_executor(), one.wait_for_port(80, 60s));
  co_await pause_for(2ms);
  co_await world->place->destroy(world->at);
  CHECK(one.status() == exit_status(end_reason::cancelled, 128 + SIGKILL, SIGKILL));
  CHECK(ended.status() == exit_status::exited(4));
  CHECK(signalled.status() == exit_status::signaled(SIGSEGV));
  const exit_status status = co_await waiting.result();
  CHECK(status == *one.status());
  const log_piece piece = co_await following.result();
  CHECK(piece.ended());
  const auto match = co_await looking.result();
  CHECK_FALSE(match);
  const bool listens = co_await listening.result();
  CHECK_FALSE(listens);
  CHECK_THROWS_AS(world->place->backgrounds(world->at), error);
}

ASYNC_TEST("background: a place that is lost gives lost, and the context goes on") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  world->run().out("some").lose("the resident died");
  const exit_status status = co_await one.wait();
  CHECK(status == exit_status::lost("the resident died"));
  CHECK(one.read(std_out, 0).bytes() == "some");
  co_await world->place->destroy(world->at);
  CHECK(one.status() == status);
}

ASYNC_TEST("background: a context that goes takes it along, and waiters get their answers") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  world->run().out("some");
  running<exit_status> waiting(io.get_executor(), one.wait());
  co_await pause_for(2ms);
  world->place.reset();
  CHECK(world->backend->dropped.size() == 1);
  const exit_status status = co_await waiting.result();
  CHECK((status.reason() == end_reason::cancelled || status.reason() == end_reason::lost));
  CHECK(one.read(std_out, 0).bytes() == "some");
  const exit_status again = co_await one.kill();
  CHECK(again == status);
  CHECK_NOTHROW(one.signal(SIGTERM));
}

ASYNC_TEST("background: a backend that throws gives lost, and the command is killed") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  world->run().pending_reads = 2;  // the call after the one under way throws
  world->run().out("a");
  const exit_status status = co_await one.wait();
  CHECK(status.reason() == end_reason::lost);
  world->run().pending_reads = 0;
  CHECK(world->run().destroyed);
}

ASYNC_TEST("background: what holds the streams open is left alone, and the log ends") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  world->run().out("a").exit();
  const exit_status status = co_await one.wait();
  CHECK(status.ok());
  CHECK(one.streams_open());
  CHECK(one.read(std_out, 0).ended());
  CHECK(world->run().abandoned);
  CHECK(world->run().kills.empty());
  const exit_status same = co_await one.kill();
  CHECK(same == status);
  CHECK(world->run().kills.size() == 1);
}

ASYNC_TEST("background: deadlines end it") {
  const auto world = co_await fake_world::make(io);
  background late = co_await world->keep(command("x").timeout(20ms));
  background idle = co_await world->keep(command("x").idle_timeout(20ms));
  const exit_status first = co_await late.wait();
  CHECK(first.reason() == end_reason::timed_out);
  const exit_status second = co_await idle.wait();
  CHECK(second.reason() == end_reason::idle_timed_out);
}

ASYNC_TEST("background: a ring of 10 bytes keeps the last 10, and readers are told the gap") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep(command("x").output_limit(10));
  for (int i = 0; i < 10; ++i) world->run().out(std::string(100, static_cast<char>('0' + i)));
  world->run().exit().end_streams();
  co_await one.wait();
  const log_piece piece = one.read(std_out, 5);
  CHECK(piece.bytes() == "9999999999");
  CHECK(piece.gap() == 985);
  CHECK(piece.next() == 1000);
}

ASYNC_TEST("background: a spill has everything once it has ended") {
  const temp_dir directory;
  const std::string path = directory / "log";
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep(command("x").output_limit(4).spill(path));
  std::string all;
  for (int i = 0; i < 1000; ++i) {
    const std::string piece(1000, static_cast<char>('a' + i % 26));
    all += piece;
    world->run().out(piece);
  }
  world->run().err("errors").exit().end_streams();
  co_await one.wait();
  CHECK(content(path) == all);
  CHECK(content(path + ".stderr") == "errors");
  CHECK(one.spill_error().empty());
  const auto code = co_await code_of(world->keep(command("y").spill(directory / "missing/log")));
  CHECK(code == std::errc::no_such_file_or_directory);
  CHECK(world->backend->runs.size() == 1);
}

ASYNC_TEST("background: a context that goes leaves the spill of what came") {
  const temp_dir directory;
  const std::string path = directory / "log";
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep(command("x").spill(path));
  world->run().out("some");
  co_await one.follow(std_out, 0);
  world->place.reset();
  co_await one.wait();
  CHECK(content(path) == "some");
}

ASYNC_TEST("background: writes go in whole and in order, and the input ends behind them") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.stdin_room = 1000; });
  background one = co_await world->keep(command("x").input_stream());
  task_group writers(io.get_executor());
  std::string expected;
  for (int i = 0; i < 5; ++i) {
    expected += std::string(400, static_cast<char>('a' + i));
    writers.spawn(one.write(std::string(400, static_cast<char>('a' + i))));
  }
  writers.spawn(one.close_stdin());
  co_await pause_for(2ms);
  CHECK(world->run().written.size() == 1000);
  CHECK_FALSE(world->run().stdin_closed);
  world->run().stdin_room = 100000;
  world->run().out("").close_input();
  const auto code = co_await code_of(writers.join());
  CHECK(code == std::errc::broken_pipe);
  background two = co_await world->keep(command("x").input_stream());
  world->run().stdin_room = 100000;
  task_group more(io.get_executor());
  for (int i = 0; i < 5; ++i) more.spawn(two.write(std::string(400, static_cast<char>('a' + i))));
  more.spawn(two.close_stdin());
  co_await more.join();
  CHECK(world->run().written == expected);
  CHECK(world->run().stdin_closed);
  const auto refused = co_await code_of(two.write("x"));
  CHECK(refused == std::errc::broken_pipe);
}

ASYNC_TEST("background: a write that is cancelled in the queue writes nothing, and the next goes on") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.stdin_room = 3; });
  background one = co_await world->keep(command("x").input_stream());
  running<std::error_code> first(io.get_executor(), code_of(one.write("abcdef")));
  running<std::error_code> second(io.get_executor(), code_of(one.write("no")));
  running<std::error_code> third(io.get_executor(), code_of(one.write("yes")));
  second.cancel();
  const auto dropped = co_await second.result();
  CHECK(dropped == asio::error::operation_aborted);
  world->run().stdin_room = 100;
  first.cancel();
  const auto cut = co_await first.result();
  CHECK(cut == asio::error::operation_aborted);
  const auto went = co_await third.result();
  CHECK_FALSE(went);
  CHECK(world->run().written == "abcyes");
}

ASYNC_TEST("background: a command without input_stream cannot be written to") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  const auto code = co_await code_of(one.write("x"));
  CHECK(code == errc::invalid_argument);
  one.signal(SIGUSR1);
  CHECK(world->run().signals == std::vector<int>{SIGUSR1});
  background none;
  CHECK(none.id().empty());
  CHECK_FALSE(none.status());
  CHECK_THROWS_AS(none.signal(1), error);
}
