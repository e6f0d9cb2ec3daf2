/// Background commands over a backend in memory: starts, keys, lists, and what they wait for.
#include "context/fake_world.hpp"
#include "support/running.hpp"

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;

namespace {

using output_stream::std_out;

void print_and_exit(fake_run& run) { run.out("x").exit().end_streams(); }

}  // namespace

ASYNC_TEST("background: a key that is there gives that command, running or ended") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep(command("x").key("server"));
  background two = co_await world->keep(command("y").key("server"));
  CHECK(one.id() == "server");
  CHECK(two.id() == "server");
  CHECK(world->backend->runs.size() == 1);
  world->run().out("a").exit(3).end_streams();
  co_await two.wait();
  CHECK(one.status() == exit_status::exited(3));
  background three = co_await world->keep(command("x").key("server"));
  CHECK(three.status() == exit_status::exited(3));
  CHECK(world->backend->runs.size() == 1);
  CHECK(world->place->backgrounds(world->at).size() == 1);
  const handle other = co_await world->place->spawn();
  co_await world->place->exec_background(other, command("x").key("server"));
  CHECK(world->backend->runs.size() == 2);
}

ASYNC_TEST("background: starts that race for a key are one") {
  const auto world = co_await fake_world::make(io);
  world->backend->hold_start.emplace(io.get_executor());
  std::vector<running<background>> all;
  for (int i = 0; i < 5; ++i) all.emplace_back(io.get_executor(), world->keep(command("x").key("server")));
  co_await pause_for(2ms);
  world->backend->hold_start->notify();
  for (auto& each : all) {
    const background one = co_await each.result();
    CHECK(one.id() == "server");
  }
  CHECK(world->backend->runs.size() == 1);
}

ASYNC_TEST("background: whoever waits for a start that is cancelled or throws starts it instead") {
  const auto world = co_await fake_world::make(io);
  world->backend->hold_start.emplace(io.get_executor());
  running<background> first(io.get_executor(), world->keep(command("x").key("server")));
  running<background> second(io.get_executor(), world->keep(command("x").key("server")));
  running<background> third(io.get_executor(), world->keep(command("x").key("server")));
  first.cancel();
  const auto code = co_await code_of(first.result());
  CHECK(code == asio::error::operation_aborted);
  co_await pause_for(2ms);
  int starts = 0;
  world->script([&starts](fake_run&) {
    if (++starts == 1) throw error(errc::unavailable, "fake: not now");
  });
  world->backend->hold_start->notify();
  const auto refused = co_await code_of(second.result());
  CHECK(refused == errc::unavailable);
  co_await pause_for(2ms);
  world->backend->hold_start->notify();
  const background one = co_await third.result();
  CHECK(one.id() == "server");
  CHECK(starts == 2);
  CHECK(world->place->backgrounds(world->at).size() == 1);
}

ASYNC_TEST("background: a start that hangs until its deadline is over then, with end_leftovers too") {
  const auto world = co_await fake_world::make(io);
  world->backend->hold_start.emplace(io.get_executor());
  const background one = co_await world->keep(command("x").timeout(5ms).end_leftovers());
  REQUIRE(one.status().has_value());
  CHECK(one.status()->reason() == end_reason::timed_out);
}

ASYNC_TEST("background: a start that failed is a value, and does not keep the key") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.exit(exit_status::start_failed(127, "no such file")).end_streams(); });
  background one = co_await world->keep(command("x").key("server"));
  REQUIRE(one.status());
  CHECK(one.status()->reason() == end_reason::start_failed);
  const exit_status status = co_await one.wait();
  CHECK(status.code() == 127);
  CHECK(one.read(std_out, 0).ended());
  const auto match = co_await one.wait_for_output("x", 10s);
  CHECK_FALSE(match);
  const bool listens = co_await one.wait_for_port(80, 10s);
  CHECK_FALSE(listens);
  world->script([](fake_run&) {});
  background two = co_await world->keep(command("x").key("server"));
  CHECK_FALSE(two.status());
  CHECK(world->place->backgrounds(world->at).size() == 2);
}

ASYNC_TEST("background: a start that is cancelled leaves nothing") {
  const auto world = co_await fake_world::make(io);
  world->backend->hold_start.emplace(io.get_executor());
  running<background> one(io.get_executor(), world->keep("x"));
  co_await pause_for(1ms);
  one.cancel();
  const auto code = co_await code_of(one.result());
  CHECK(code == asio::error::operation_aborted);
  CHECK(world->backend->runs.empty());
  CHECK(world->place->backgrounds(world->at).empty());
}

ASYNC_TEST("background: a handle that is destroyed, or a context that goes, while it starts") {
  const auto world = co_await fake_world::make(io);
  world->backend->hold_start.emplace(io.get_executor());
  running<background> one(io.get_executor(), world->keep(command("x").key("k")));
  running<background> two(io.get_executor(), world->keep(command("x").key("k")));
  co_await pause_for(1ms);
  co_await world->place->destroy(world->at);
  world->backend->hold_start->notify();
  auto code = co_await code_of(one.result());
  CHECK(code == errc::destroyed);
  code = co_await code_of(two.result());
  CHECK(code == errc::destroyed);
  CHECK(world->run().destroyed);
  world->at = co_await world->place->spawn();
  running<background> three(io.get_executor(), world->keep("x"));
  co_await pause_for(1ms);
  world->place.reset();
  world->backend->hold_start->notify();
  code = co_await code_of(three.result());
  CHECK(code == errc::destroyed);
  CHECK(world->run().destroyed);
}

ASYNC_TEST("background: the last 100 ended ones are listed, and all that run or are held") {
  const auto world = co_await fake_world::make(io);
  background still = co_await world->keep("running");
  background held;
  world->script(print_and_exit);
  for (int i = 0; i < 150; ++i) {
    background one = co_await world->keep(command("x").key("key" + std::to_string(i)));
    co_await one.wait();
    if (i == 0) held = one;
  }
  co_await world->keep("last");
  const auto all = world->place->backgrounds(world->at);
  REQUIRE(all.size() == 103);
  CHECK(all[0].id() == still.id());
  CHECK(all[1].id() == "key0");
  CHECK(all[2].id() == "key50");
  CHECK(all[101].id() == "key149");
}

ASYNC_TEST("background: wait_for_output finds text across pieces and streams, also what was there before") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  world->run().out("before liste").err("erro").out("ning on 80");
  auto match = co_await one.wait_for_output("listening", 5s);
  REQUIRE(match);
  CHECK(match->stream() == std_out);
  CHECK(match->offset() == 7);
  CHECK(match->text() == "listening");
  running<std::optional<output_match>> waiting(io.get_executor(), one.wait_for_output("error", 5s));
  co_await pause_for(2ms);
  CHECK_FALSE(waiting.ended());
  world->run().err("r");
  match = co_await waiting.result();
  REQUIRE(match);
  CHECK(match->stream() == output_stream::std_err);
  CHECK(match->offset() == 0);
  match = co_await one.wait_for_output("nothing", 10ms);
  CHECK_FALSE(match);
  match = co_await one.wait_for_output("before", 0ms);
  CHECK(match);
}

ASYNC_TEST("background: wait_for_output takes regular expressions, also for a prompt without a line's end") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  const auto port = output_pattern::regex("port ([0-9]+)");
  running<std::optional<output_match>> waiting(io.get_executor(), one.wait_for_output(port, 5s));
  world->run().out("a\nb\non po").out("rt ").out("8080");
  auto match = co_await waiting.result();
  REQUIRE(match);
  CHECK(match->offset() == 7);
  const auto prompt = output_pattern::regex("> $");
  running<std::optional<output_match>> prompted(io.get_executor(), one.wait_for_output(prompt, 5s));
  world->run().out("\n" + std::string(5000, 'x')).out("> ");
  match = co_await prompted.result();
  REQUIRE(match);
  const auto bad = co_await code_of(one.wait_for_output(output_pattern::regex("("), 5s));
  CHECK(bad == errc::invalid_argument);
  world->run().out("last").exit().end_streams();
  match = co_await one.wait_for_output(output_pattern::regex("las.$"), 5s);
  CHECK(match);
  match = co_await one.wait_for_output(output_pattern::regex("^never"), 5s);
  CHECK_FALSE(match);
}

ASYNC_TEST_FOR("background: a search through 1 MiB of lines lets others run", 60s) {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  std::string lines;
  while (lines.size() < (1u << 20)) lines += "a line with some numbers 123 and words\n";
  for (std::size_t at = 0; at < lines.size(); at += 60000) world->run().out(lines.substr(at, 60000));
  co_await pause_for(20ms);
  const auto never = output_pattern::regex("[a-z]+ [0-9]+ and nothing");
  running<std::optional<output_match>> waiting(io.get_executor(), one.wait_for_output(never, 30s));
  int turns = 0;
  while (turns < 20) {
    co_await pause_for(1ms);
    if (waiting.ended()) break;
    ++turns;
  }
  CHECK(turns >= 5);
  waiting.cancel();
  const auto code = co_await code_of(waiting.result());
  CHECK(code == asio::error::operation_aborted);
}

ASYNC_TEST("background: wait_for_port asks until it listens") {
  const auto world = co_await fake_world::make(io);
  background one = co_await world->keep("x");
  running<bool> waiting(io.get_executor(), one.wait_for_port(8080, 5s));
  co_await pause_for(5ms);
  CHECK_FALSE(waiting.ended());
  world->run().ports = {22, 8080};
  const bool listens = co_await waiting.result();
  CHECK(listens);
  const auto ports = co_await one.ports();
  CHECK(ports == std::vector<std::uint16_t>{22, 8080});
  const bool other = co_await one.wait_for_port(80, 20ms);
  CHECK_FALSE(other);
}
