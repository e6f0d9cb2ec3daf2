#include "cli/program.hpp"

#include <thread>

using namespace berth::test;

TEST_CASE("exec: a time limit ends the whole tree, and is 124 with one line") {
  nothing_left guard;
  stopwatch watch;
  const auto done = berth_ends({"exec", "--timeout", "300ms", "echo before; setsid sleep 100 & exec sleep 100"});
  CHECK(done.code == 124);
  CHECK(done.out == "before\n");
  CHECK(done.err == "berth: timed out after 300ms\n");
  CHECK(watch.time() < std::chrono::seconds(10));
}

TEST_CASE("exec: a command that ignores TERM is killed when its grace has passed") {
  nothing_left guard;
  stopwatch watch;
  const auto done =
      berth_ends({"exec", "--timeout", "300ms", "--grace", "200ms", "trap '' TERM; while :; do sleep 0.05; done"});
  CHECK(done.code == 124);
  CHECK(watch.time() >= std::chrono::milliseconds(500));
  CHECK(watch.time() < std::chrono::seconds(10));
}

TEST_CASE("exec: a command without output is ended by its idle limit") {
  nothing_left guard;
  const auto done = berth_ends(
      {"exec", "--idle-timeout", "400ms", "for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; exec sleep 100"});
  CHECK(done.code == 124);
  CHECK(done.out == "1\n2\n3\n4\n5\n");
  CHECK(done.err == "berth: timed out after 400ms without output\n");
}

TEST_CASE("exec: a command that ends in time is not touched") {
  const auto done = berth_ends({"exec", "--timeout", "1m", "--idle-timeout", "30s", "exit 7"});
  CHECK(done.code == 7);
  CHECK(done.err == "");
}

TEST_CASE("exec: the time limit also counts while our reader is slow") {
  nothing_left guard;
  program berth({"exec", "--timeout", "500ms", "echo $$; exec yes"});
  REQUIRE(berth.prints("y\n"));
  std::this_thread::sleep_for(std::chrono::seconds(1));  // nobody reads: the pipes fill and stay full
  stopwatch watch;
  const auto done = berth.end();
  CHECK(done.code == 124);
  CHECK(done.err == "berth: timed out after 500ms\n");
}
