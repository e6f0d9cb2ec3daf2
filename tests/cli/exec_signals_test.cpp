#include "cli/program.hpp"
#include "support/proc_scan.hpp"

#include <csignal>
#include <thread>

using namespace berth::test;
using namespace std::chrono_literals;

TEST_CASE("signals: INT, TERM, HUP and QUIT reach the command") {
  nothing_left guard;
  for (const auto& [signo, name] : {std::pair{SIGINT, "INT"}, {SIGTERM, "TERM"}, {SIGHUP, "HUP"}, {SIGQUIT, "QUIT"}}) {
    CAPTURE(name);
    const std::string trap = std::string("trap 'echo got; exit 5' ") + name;
    program berth({"exec", trap + "; echo ready; while :; do sleep 0.05; done"});
    REQUIRE(berth.prints("ready\n"));
    berth.signal(signo);
    const auto done = berth.end();
    CHECK(done.code == 5);
    CHECK(done.out == "ready\ngot\n");
    CHECK(done.err.find("berth") == std::string::npos);  // the shell may tell how its sleep ended
  }
}

TEST_CASE("signals: a command that dies of what was passed on is 128 and its number, without a message") {
  nothing_left guard;
  program berth({"exec", "echo ready; exec sleep 100"});
  REQUIRE(berth.prints("ready\n"));
  berth.signal(SIGTERM);
  const auto done = berth.end();
  CHECK(done.code == 143);
  CHECK(done.err == "");
}

TEST_CASE("signals: an INT that ends the command ends us as well, so that the loop of a shell ends with it") {
  nothing_left guard;
  program berth({"exec", "echo ready; exec sleep 100"});
  REQUIRE(berth.prints("ready\n"));
  berth.signal(SIGINT);
  const auto done = berth.end();
  CHECK(done.code == -SIGINT);
  CHECK(done.err == "");
}

TEST_CASE("limits: few threads and small files are no hang and no signal") {
  nothing_left guard;
#ifndef __SANITIZE_ADDRESS__  // which needs terabytes of addresses
  auto few = program::shell("ulimit -v 70000; exec timeout 20 \"$0\" exec 'echo hi'");
  CHECK(few.end().out == "hi\n");
#endif
  auto small = program::shell("ulimit -f 10; exec \"$0\" exec 'echo hi'");
  const auto done = small.end();
  CHECK(done.code == 125);
  CHECK(done.err.find("File too large") != std::string::npos);
}

TEST_CASE("resident: one that was stopped does not outlive us with what it ran") {
  nothing_left guard;
  program berth({"exec", "(setsid sleep 100 &); echo ready; kill -STOP $PPID; sleep 100"});
  REQUIRE(berth.prints("ready\n"));
  std::this_thread::sleep_for(100ms);
  berth.signal(SIGKILL);
  CHECK(berth.end().code == -SIGKILL);
}

TEST_CASE("signals: the whole group of the command gets them") {
  nothing_left guard;
  program berth({"exec", "sleep 100 | sleep 100 & echo ready; wait; exit 9"});
  REQUIRE(berth.prints("ready\n"));
  berth.signal(SIGTERM);
  CHECK(berth.end().code == 143);
}

TEST_CASE("signals: a second INT ends a command that ignores the first, and its tree") {
  nothing_left guard;
  program berth(
      {"exec", "--grace", "100ms", "trap '' INT TERM; setsid sleep 100 & echo ready; while :; do sleep 0.05; done"});
  REQUIRE(berth.prints("ready\n"));
  berth.signal(SIGINT);
  std::this_thread::sleep_for(300ms);
  CHECK(is_alive(berth.pid()));
  berth.signal(SIGINT);
  const auto done = berth.end();
  CHECK(done.code == 137);
}

TEST_CASE("signals: a second INT does the same where our output is one that nobody waits for") {
  nothing_left guard;
  auto berth = program::shell(
      "exec \"$0\" exec --grace 100ms \"trap '' INT TERM; echo ready >&2; while :; do sleep 0.05; done\" "
      "2>&1 >/dev/null");
  REQUIRE(berth.prints("ready\n"));
  berth.signal(SIGINT);
  std::this_thread::sleep_for(300ms);
  berth.signal(SIGINT);
  const auto done = berth.end();
  CHECK(done.code == 137);
  CHECK(done.out == "ready\n");
}

TEST_CASE("signals: a second INT also ends us while our reader is stuck") {
  nothing_left guard;
  program berth({"exec", "trap '' INT; yes"});
  REQUIRE(berth.prints("y\n"));
  std::this_thread::sleep_for(300ms);  // until all pipes are full
  berth.signal(SIGINT);
  std::this_thread::sleep_for(100ms);
  berth.signal(SIGINT);
  CHECK(eventually([&] { return !is_alive(berth.pid()); }));
  CHECK(berth.end().code == 143);
}

TEST_CASE("signals: what is ignored when we start stays so, as under nohup") {
  nothing_left guard;
  auto berth = program::shell("trap '' HUP; exec \"$0\" exec 'echo ready; read line; echo got $line'");
  REQUIRE(berth.prints("ready\n"));
  berth.signal(SIGHUP);
  berth.write("on\n");
  CHECK(berth.end().out == "ready\ngot on\n");
}

TEST_CASE("signals: killed the hard way, the command ends with us") {
  nothing_left guard;
  program berth({"exec", "setsid sleep 100 & echo ready; exec sleep 100"});
  REQUIRE(berth.prints("ready\n"));
  berth.signal(SIGKILL);
  CHECK(berth.end().code == -SIGKILL);
}
