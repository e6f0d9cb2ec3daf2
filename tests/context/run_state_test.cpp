#include "context/run_state.hpp"

#include <doctest/doctest.h>

#include <csignal>

using namespace berth;
using namespace std::chrono_literals;

namespace {

using time_point = run_state::clock::time_point;

process_exited ended(exit_status status) {
  process_exited event;
  event.status = std::move(status);
  return event;
}

chunk piece(std::string bytes) { return {output_stream::std_out, std::move(bytes)}; }

/// A command in a time of its own.
struct lab {
  explicit lab(const command& what = command("x")) : state(what, now) {}

  /// Lets a reader wait until its limit, or as long as given; nothing happens.
  void nothing_for(run_state::clock::duration time) {
    const auto end = now + time;
    while (now < end && !state.finished()) {
      const auto until = std::min(end, std::max(now, state.wait_limit(now)));
      state.waited(until - now);
      now = until;
      (void)state.take(nothing_yet(), now);
      if (until == end || state.idle_passed()) return;
    }
  }
  std::optional<chunk> happens(process_event event) { return state.take(std::move(event), now); }
  void kill(end_reason reason, std::chrono::milliseconds grace = 2s, bool has_ended = false) {
    state.kill_sent(reason, grace, now, has_ended);
  }

  time_point now{1h};
  run_state state;
};

}  // namespace

TEST_CASE("run: finished once the streams ended and it exited, in either order") {
  lab one;
  one.happens(streams_ended());
  CHECK(!one.state.finished());
  one.happens(ended(exit_status::exited(3)));
  CHECK(one.state.finished());
  lab two;
  two.happens(ended(exit_status::exited(3)));
  CHECK(!two.state.finished());
  two.happens(streams_ended());
  CHECK(two.state.finished());
  CHECK(two.state.status() == exit_status::exited(3));
  CHECK(!two.state.streams_open());
}

TEST_CASE("run: without deadlines it is waited for without end") {
  const lab one;
  CHECK(one.state.wait_limit(one.now) == time_point::max());
}

TEST_CASE("run: streams held open are given up after 250 ms without a byte") {
  lab one;
  one.happens(ended(exit_status::exited(0)));
  one.nothing_for(200ms);
  CHECK(one.happens(piece("late")));
  one.nothing_for(249ms);
  CHECK(!one.state.finished());
  one.nothing_for(1ms);
  CHECK(one.state.finished());
  CHECK(one.state.streams_open());
  CHECK(one.state.status().ok());
}

TEST_CASE("run: a trickle is drained for 2 s") {
  lab one;
  one.happens(ended(exit_status::exited(0)));
  int pieces = 0;
  while (!one.state.finished() && pieces < 1000) {
    one.nothing_for(100ms);
    one.happens(piece("tick"));
    ++pieces;
  }
  CHECK(one.now - time_point(1h) == 2s);
}

TEST_CASE("run: a flood is drained no further than pipes can hold, once the time is over") {
  lab one;
  one.happens(ended(exit_status::exited(0)));
  one.now += 3s;  // nobody read
  int pieces = 0;
  for (; !one.state.finished(); ++pieces) {
    CHECK(one.state.wait_limit(one.now) <= one.now);
    CHECK(one.happens(piece(std::string(64 << 10, 'x'))));
  }
  CHECK(pieces == 32);
  CHECK(one.state.streams_open());
}

TEST_CASE("run: time in which nobody reads is not quiet") {
  lab one;
  one.happens(ended(exit_status::exited(0)));
  one.now += 1s;
  CHECK(one.state.wait_limit(one.now) == one.now + 250ms);
}

TEST_CASE("run: a deadline during the drain ends the drain, not the status") {
  lab one(command("x").timeout(1s));
  one.now += 900ms;
  one.happens(ended(exit_status::exited(0)));
  CHECK(one.state.wait_limit(one.now) == one.now + 100ms);
  one.nothing_for(100ms);
  CHECK(one.state.finished());
  CHECK(one.state.streams_open());
  CHECK(one.state.status() == exit_status::exited(0));
}

TEST_CASE("run: a deadline that passed before the drain still lets what lies in the pipes be read") {
  lab one(command("x").timeout(1s));
  one.now += 900ms;
  one.happens(ended(exit_status::exited(0)));
  one.now += 5s;
  CHECK(one.happens(piece("still there")));
  CHECK(!one.state.finished());
  one.nothing_for(0ms);
  one.happens(nothing_yet());
  CHECK(one.state.finished());
}

TEST_CASE("run: an idle deadline counts reading time since the last byte") {
  lab one(command("x").idle_timeout(1s));
  one.nothing_for(900ms);
  CHECK(!one.state.idle_passed());
  one.now += 10s;
  one.happens(piece("x"));
  CHECK(one.state.wait_limit(one.now) == one.now + 1s);
  one.nothing_for(1s);
  CHECK(one.state.idle_passed());
  one.kill(end_reason::idle_timed_out);
  CHECK(!one.state.idle_passed());
  one.happens(ended(exit_status::signaled(SIGTERM)));
  CHECK(one.state.status() == exit_status(end_reason::idle_timed_out, 124, SIGTERM));
}

TEST_CASE("run: a kill is over when the tree is gone, and then the rest is drained") {
  lab one;
  one.kill(end_reason::timed_out);
  one.happens(ended(exit_status::signaled(SIGTERM)));
  one.nothing_for(1500ms);
  CHECK(!one.state.finished());
  tree_ended tree;
  tree.survivors.push_back({7, "sudo"});
  one.happens(std::move(tree));
  CHECK(!one.state.finished());
  CHECK(one.happens(piece("rest")));
  one.happens(streams_ended());
  CHECK(one.state.finished());
  CHECK(one.state.status() == exit_status(end_reason::timed_out, 124, SIGTERM));
  REQUIRE(one.state.survivors().size() == 1);
  CHECK(one.state.survivors()[0].name == "sudo");
}

TEST_CASE("run: a killed tree whose streams are held by others is drained 250 ms") {
  lab one(command("x").timeout(1s));
  one.now += 1s;
  one.kill(end_reason::timed_out);
  one.happens(ended(exit_status::signaled(SIGTERM)));
  one.now += 100ms;
  one.happens(tree_ended());
  one.nothing_for(249ms);
  CHECK(!one.state.finished());
  one.nothing_for(1ms);
  CHECK(one.state.streams_open());
}

TEST_CASE("run: the first reason stays") {
  lab one;
  one.kill(end_reason::timed_out);
  one.kill(end_reason::cancelled, 0ms);
  one.happens(ended(exit_status::signaled(SIGKILL)));
  CHECK(one.state.status() == exit_status(end_reason::timed_out, 124, SIGKILL));
}

TEST_CASE("run: cancelled has the code of its signal, and never 0") {
  lab one;
  one.kill(end_reason::cancelled);
  one.happens(ended(exit_status::signaled(SIGKILL)));
  CHECK(one.state.status() == exit_status(end_reason::cancelled, 137, SIGKILL));
  lab two;
  two.kill(end_reason::cancelled);
  two.happens(ended(exit_status::exited(0)));
  CHECK(two.state.status().code() == 143);
  CHECK(two.state.status().message() == "exited with 0 when told to end");
}

TEST_CASE("run: what ended by itself keeps its reason") {
  lab known;
  known.kill(end_reason::cancelled, 2s, true);
  known.happens(ended(exit_status::exited(0)));
  CHECK(known.state.status() == exit_status::exited(0));
  lab no_grace;  // nothing exits from a KILL
  no_grace.kill(end_reason::cancelled, 0ms);
  no_grace.happens(ended(exit_status::exited(5)));
  CHECK(no_grace.state.status() == exit_status::exited(5));
  lab memory;
  memory.kill(end_reason::cancelled);
  memory.happens(ended(exit_status(end_reason::oom_killed, 137, 9)));
  CHECK(memory.state.status().reason() == end_reason::oom_killed);
}

TEST_CASE("run: leftovers that are to end are waited for") {
  lab one(command("x").end_leftovers());
  one.happens(streams_ended());
  one.happens(ended(exit_status::exited(0)));
  CHECK(!one.state.finished());
  one.happens(tree_ended());
  CHECK(one.state.finished());
  CHECK(one.state.status().ok());
}

TEST_CASE("run: a failed start waits for no tree") {
  lab one(command("x").end_leftovers());
  one.kill(end_reason::cancelled);
  one.happens(ended(exit_status::start_failed(127, "exec")));
  one.happens(streams_ended());
  CHECK(one.state.finished());
  CHECK(one.state.tree_gone());
  CHECK(one.state.status().reason() == end_reason::start_failed);
}

TEST_CASE("run: a lost place is never a success") {
  lab running;
  running.happens(process_lost{"reset"});
  CHECK(running.state.finished());
  CHECK(running.state.status() == exit_status::lost("reset"));
  lab draining;
  draining.happens(ended(exit_status::exited(0)));
  draining.happens(process_lost{"reset"});
  CHECK(draining.state.status() == exit_status::lost("reset"));
  lab complete;
  complete.kill(end_reason::cancelled, 2s, true);
  complete.happens(streams_ended());
  complete.happens(ended(exit_status::exited(0)));
  complete.happens(process_lost{"reset"});
  CHECK(complete.state.status().ok());
}

TEST_CASE("run: a tree that does not end is given up") {
  lab one;
  one.kill(end_reason::cancelled, 2s);
  one.nothing_for(11s);
  CHECK(!one.state.finished());
  one.nothing_for(1s);
  CHECK(one.state.finished());
  CHECK(one.state.status().reason() == end_reason::lost);
}

TEST_CASE("run: a finished command can still be killed for what it left") {
  lab one;
  one.happens(streams_ended());
  one.happens(ended(exit_status::exited(0)));
  one.kill(end_reason::cancelled);
  CHECK(!one.state.tree_gone());
  CHECK(!one.happens(piece("too late")));
  one.happens(tree_ended());
  CHECK(one.state.tree_gone());
  CHECK(one.state.status().ok());
}

TEST_CASE("run: times without bounds do not overflow") {
  const auto huge = std::chrono::milliseconds::max();
  lab one(command("x").timeout(huge).idle_timeout(huge).grace(huge));
  CHECK(one.state.deadline() == time_point::max());
  CHECK(one.state.wait_limit(one.now) > one.now + 24h);
  CHECK(!one.state.idle_passed());
  one.kill(end_reason::cancelled, huge);
  CHECK(one.state.wait_limit(one.now) > one.now + 24h);
}
