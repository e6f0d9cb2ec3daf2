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

TEST_CASE("limits: what a command may use is limited, and the result says by which limit it ended") {
  const nothing_left nothing;
  const auto shown =
      berth_ends({"exec", "--open-files", "99", "--nice", "3", "--file-size", "1M", "ulimit -n; nice; ulimit -f"});
  CHECK(shown.out == "99\n3\n2048\n");
  const auto large =
      berth_ends({"exec", "--json", "--file-size", "4K",
                  "head -c 1M /dev/zero > /dev/shm/berth-limit-$$; s=$?; rm /dev/shm/berth-limit-$$; exit $s"});
  CHECK(large.code == 153);
  CHECK(large.out.find("\"limit\":\"file_size\"") != std::string::npos);
}

TEST_CASE("limits: mistakes are told") {
  for (const words& wrong :
       {words{"--memory", "much"}, words{"--memory", "0"}, words{"--memory", "99999999999T"}, words{"--cpu-time", "0s"},
        words{"--open-files", "2"}, words{"--nice", "20"}, words{"--nice", "x"}, words{"--processes", "-1"}}) {
    words all{"exec"};
    all.insert(all.end(), wrong.begin(), wrong.end());
    all.push_back("true");
    CAPTURE(wrong[0]);
    CHECK(berth_ends(all).code == 125);
  }
}
