#include "resident/client.hpp"

#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;
using wire::frame_type;
using clock_type = std::chrono::steady_clock;

namespace {

/// The survivors that a tree_ended names.
std::uint32_t survivors(client& c, std::uint32_t id) {
  const frame f = c.expect(frame_type::tree_ended, id);
  wire::reader r(f.payload);
  return r.u32();
}

milliseconds since(clock_type::time_point begin) {
  return std::chrono::duration_cast<milliseconds>(clock_type::now() - begin);
}

/// Starts a process in each way of getting away, and checks that one kill ends them all.
void check_whole_tree(client& c, std::uint32_t id, const char* how, std::uint64_t grace) {
  c.run(id, child({"tree", how, "quiet"}));
  const auto pids = pids_after_word(c.output(id, wire::stream::out, "\n"));
  REQUIRE(pids.size() == 7);
  c.send_number(frame_type::kill, id, grace);
  CHECK(survivors(c, id) == 0);
  c.expect_exit(id);
  for (const pid_t pid : pids) CHECK_FALSE(is_alive(pid));
  CHECK(tagged(c.nonce(), id).empty());
}

/// Hides the files that list a process's children: the resident must find them by their parents.
void hide_children_files() {
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(125);
  const std::string tasks = "/proc/" + std::to_string(getpid()) + "/task";
  if (mount("none", tasks.c_str(), "tmpfs", 0, nullptr) != 0) _exit(125);
}

}  // namespace

TEST_CASE("signal: goes to the process group of the command") {
  client c;
  const pid_t pid = c.run(1, child({"trap"}));
  CHECK(c.output(1, wire::stream::out, "ready\n") == "ready\n");
  c.send_number(frame_type::signal, 1, SIGUSR1);
  CHECK(c.output(1, wire::stream::out, "\n") == "got 10\n");
  c.send_number(frame_type::signal, 1, SIGSTOP);
  CHECK(becomes([&] { return proc_file(pid, "stat").find(") T ") != std::string::npos; }));
  c.send_number(frame_type::signal, 1, SIGCONT);
  c.send_number(frame_type::signal, 1, 0);
  c.send_number(frame_type::signal, 1, 65);
  c.send_number(frame_type::signal, 1, SIGUSR2);
  CHECK(c.expect_exit(1).wait_status == 0);
  c.send_number(frame_type::signal, 1, SIGKILL);  // it has ended: nobody is meant any more
}

TEST_CASE("signal: every process of the group, and no other session") {
  client c;
  c.run(1, shell("sleep 60 & setsid sleep 61 & echo; wait"));
  c.output(1, wire::stream::out, "\n");
  REQUIRE(becomes([&] {
    const auto all = tagged(c.nonce(), 1);
    return std::any_of(all.begin(), all.end(), [](pid_t pid) { return command_line_of(pid) == "sleep 61"; });
  }));
  c.send_number(frame_type::signal, 1, SIGTERM);
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGTERM);
  CHECK(becomes([&] { return tagged(c.nonce(), 1).size() == 1; }));
  c.send_number(frame_type::kill, 1, 0);
  c.expect(frame_type::tree_ended, 1);
}

TEST_CASE("kill: TERM is enough for who honours it") {
  client c;
  c.run(1, child({"stay"}));
  const auto begin = clock_type::now();
  c.send_number(frame_type::kill, 1, 5000);
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGTERM);
  CHECK(survivors(c, 1) == 0);
  CHECK(since(begin) < 2000ms);
}

TEST_CASE("kill: a command may take its time within the grace") {
  client c;
  c.run(1, shell("trap 'sleep 0.2; echo bye; exit 5' TERM; echo ready; while :; do sleep 0.01; done"));
  c.output(1, wire::stream::out, "ready\n");
  c.send_number(frame_type::kill, 1, 9000);
  CHECK(c.expect_exit(1).wait_status == 5 << 8);
  CHECK(c.output(1) == "bye\n");
  c.expect(frame_type::tree_ended, 1);
}

TEST_CASE("kill: who ignores TERM is killed after the grace") {
  client c;
  c.run(1, child({"ignore-term"}));
  c.output(1, wire::stream::out, "ready\n");
  const auto begin = clock_type::now();
  c.send_number(frame_type::kill, 1, 200);
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGKILL);
  CHECK(since(begin) >= 195ms);
  CHECK(survivors(c, 1) == 0);
  CHECK(since(begin) < 1500ms);
}

TEST_CASE("kill: a second one shortens the grace, and cannot make it longer") {
  client c;
  c.run(1, child({"ignore-term"}));
  c.output(1, wire::stream::out, "ready\n");
  const auto begin = clock_type::now();
  c.send_number(frame_type::kill, 1, 60000);
  CHECK(burnt(c.pid()) < 100ms);  // it looks again every 20 ms
  c.send_number(frame_type::kill, 1, 100);
  c.send_number(frame_type::kill, 1, 60000);
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGKILL);
  c.expect(frame_type::tree_ended, 1);
  CHECK(since(begin) < 5000ms);
  CHECK(c.stays_silent(frame_type::tree_ended, 1, 50ms));
}

TEST_CASE("kill: at once, of a command whose exec fails meanwhile") {
  client c;
  int failed = 0;
  for (std::uint32_t id = 1; id <= 300; ++id) {
    c.start(id, {{"/nonexistent"}});
    usleep(id % 10 * 50);
    c.send_number(frame_type::kill, id, id % 2 * 1000);
    // Killed first, it counts as started; else the kill means a command that never was.
    bool is_ended = false;
    while (!is_ended) {
      const auto f = c.next();
      REQUIRE(f);
      failed += f->type() == frame_type::start_failed ? 1 : 0;
      is_ended = f->type() == frame_type::start_failed || f->type() == frame_type::tree_ended;
    }
  }
  CHECK(failed > 0);
}

TEST_CASE("kill: at once, of a command that is just being started") {
  client c;
  for (std::uint32_t id = 1; id <= 100; ++id) {
    c.send_raw(frame_bytes(frame_type::start, id, 0, start_bytes(child({"stay"}))) +
               frame_bytes(frame_type::kill, id, 0, number_bytes(0)));
    CHECK(survivors(c, id) == 0);
    c.expect_exit(id);
  }
}

TEST_CASE("kill: the whole tree, whichever way its processes got away") {
  client c;
  check_whole_tree(c, 1, "stay", 0);
  check_whole_tree(c, 2, "leave", 0);
  check_whole_tree(c, 3, "stay", 50);
  check_whole_tree(c, 4, "leave", 50);
}

TEST_CASE("kill: a deep tree of sessions is no slower than a flat one") {
  client c;
  temp_dir folder;
  const std::string script = folder / "chain";
  write_whole_file(script, "[ $1 = 0 ] && { echo; exec sleep 60; }\nsetsid sh $0 $(($1-1)) &\nwait\n");
  for (std::uint32_t id = 1; id <= 2; ++id) {
    c.run(id, {{"sh", script, "80"}});
    c.output(id, wire::stream::out, "\n");
    REQUIRE(tagged(c.nonce(), id).size() == 81);
  }
  const auto begin = clock_type::now();
  SUBCASE("kill") {
    c.send_number(frame_type::kill, 1, 0);
    c.send_number(frame_type::kill, 2, 0);
    CHECK(survivors(c, 1) == 0);
    CHECK(survivors(c, 2) == 0);
  }
  SUBCASE("bye") {
    c.send(frame_type::bye, 0);
    c.wait_end();
  }
  MESSAGE("160 sessions one below the other: dead after " << since(begin).count() << " ms");
  CHECK(since(begin) < 1000ms);
}

TEST_CASE("kill: also where the kernel has no files that list children") {
  if (geteuid() != 0) return skip("needs root, to hide files of /proc");
  client c({.before_exec = hide_children_files});
  check_whole_tree(c, 1, "stay", 0);
  check_whole_tree(c, 2, "leave", 50);
  const pid_t pid = c.run(3, child({"stay"}));
  c.send(frame_type::bye, 0);
  c.wait_end();
  CHECK_FALSE(is_alive(pid));
}

TEST_CASE("kill: a tree in a process namespace of its own") {
  if (geteuid() != 0) return skip("needs root, to make a namespace");
  client c;
  c.run(1, {{"unshare", "-pf", "sh", "-c", "setsid sleep 60 & sleep 61 & exec sleep 62"}});
  const auto is_whole = [&] {
    const auto all = tagged(c.nonce(), 1);
    return std::count_if(all.begin(), all.end(), [](pid_t p) { return command_line_of(p).starts_with("sleep 6"); }) ==
           3;
  };
  REQUIRE(becomes(is_whole));
  c.send_number(frame_type::kill, 1, 0);
  CHECK(survivors(c, 1) == 0);
  CHECK(tagged(c.nonce(), 1).empty());
}

TEST_CASE("kill: TERM reaches the leftovers, and a stopped one is continued to hear it") {
  client c;
  temp_dir folder;
  const std::string note = folder / "note";
  c.run(1, shell("setsid sh -c 'trap \"echo heard >" + note +
                 "; exit\" TERM; echo ready; kill -STOP $$; while :; do sleep 0.01; done' >&2 & exit 0"));
  c.output(1, wire::stream::err, "ready\n");
  c.expect_exit(1);
  c.send_number(frame_type::kill, 1, 5000);
  CHECK(survivors(c, 1) == 0);
  CHECK(read_whole_file(note) == "heard\n");
}

TEST_CASE("kill: of a command that ended long ago, and of one that never was") {
  client c;
  c.run(1, shell("setsid sleep 60 >/dev/null 2>&1 & exit 0"));
  c.expect_exit(1);
  c.output(1);
  c.output(1, wire::stream::err);
  REQUIRE(tagged(c.nonce(), 1).size() == 1);
  c.send_number(frame_type::kill, 1, 1000);
  CHECK(survivors(c, 1) == 0);
  CHECK(tagged(c.nonce(), 1).empty());
  c.send_number(frame_type::kill, 77, 1000);
  CHECK(survivors(c, 77) == 0);
  c.send_number(frame_type::kill, 1, 0);
  CHECK(survivors(c, 1) == 0);
}

TEST_CASE("kill: one of several commands leaves the others alone") {
  client c;
  for (std::uint32_t id = 1; id <= 4; ++id) {
    c.run(id, child({"tree", id % 2 == 0 ? "stay" : "leave", "quiet"}));
    c.output(id, wire::stream::out, "\n");
  }
  c.expect_exit(1);
  c.expect_exit(3);
  const auto has = [&](std::uint32_t id, std::size_t count) {
    return becomes([&] { return tagged(c.nonce(), id).size() == count; });
  };
  CHECK(has(2, 7));
  CHECK(has(3, 6));  // its first has left
  c.send_number(frame_type::kill, 1, 0);
  c.send_number(frame_type::kill, 4, 0);
  CHECK(survivors(c, 1) == 0);
  CHECK(survivors(c, 4) == 0);
  CHECK(tagged(c.nonce(), 1).empty());
  CHECK(tagged(c.nonce(), 2).size() == 7);
  CHECK(tagged(c.nonce(), 3).size() == 6);
  CHECK(tagged(c.nonce(), 4).empty());
}

TEST_CASE("kill: sixty commands at once") {
  client c;
  for (std::uint32_t id = 1; id <= 60; ++id) {
    c.run(id, child({id % 2 == 0 ? "stay" : "ignore-term"}));
    if (id % 2 == 1) c.output(id, wire::stream::out, "\n");
  }
  const auto begin = clock_type::now();
  for (std::uint32_t id = 1; id <= 60; ++id) c.send_number(frame_type::kill, id, 100);
  for (std::uint32_t id = 1; id <= 60; ++id) CHECK(survivors(c, id) == 0);
  CHECK(since(begin) < 3000ms);
}

TEST_CASE("leftovers: live on, or are ended when the command exits, as the start says") {
  client c;
  const std::string text = "setsid sleep 60 >/dev/null 2>&1 & exit 3";
  c.run(1, shell(text));
  c.run(2, shell(text, wire::start_end_leftovers));
  CHECK(c.expect_exit(2).wait_status == 3 << 8);
  CHECK(survivors(c, 2) == 0);
  CHECK(tagged(c.nonce(), 2).empty());
  CHECK(c.expect_exit(1).wait_status == 3 << 8);
  CHECK(tagged(c.nonce(), 1).size() == 1);
  c.run(3, shell("exit 0", wire::start_end_leftovers));  // nothing is left: told all the same
  c.expect_exit(3);
  CHECK(survivors(c, 3) == 0);
}

TEST_CASE("leftovers: those that ignore TERM have the grace of the start") {
  client c;
  start_request request = shell("(trap '' TERM; echo ready; exec sleep 60) >&2 & read line; exit 0",
                                wire::start_end_leftovers | wire::start_input_pipe);
  request.grace_ms = 200;
  c.run(1, request);
  c.output(1, wire::stream::err, "ready\n");
  c.send(frame_type::input_end, 1);
  c.expect_exit(1);
  const auto begin = clock_type::now();
  CHECK(survivors(c, 1) == 0);
  CHECK(since(begin) > 150ms);
  CHECK(since(begin) < 1500ms);
}

TEST_CASE("kill: a fork bomb of another user than root") {
  client c;
  for (const std::uint64_t grace : {0, 100}) {
    const std::uint32_t id = 1 + static_cast<std::uint32_t>(grace);
    c.run(id, child({"bomb"}));
    c.output(id, wire::stream::out, "ready\n");
    const auto begin = clock_type::now();
    c.send_number(frame_type::kill, id, grace);
    CHECK(survivors(c, id) == 0);
    CHECK(tagged(c.nonce(), id).empty());
    MESSAGE("bomb, grace " << grace << ": dead after " << since(begin).count() << " ms");
  }
}

TEST_CASE("bye: a fork bomb ends with the resident") {
  client c;
  c.run(1, child({"bomb"}));
  c.output(1, wire::stream::out, "ready\n");
  const auto begin = clock_type::now();
  c.send(frame_type::bye, 0);
  c.wait_end();
  CHECK(tagged(c.nonce()).empty());
  MESSAGE("bomb, bye: dead after " << since(begin).count() << " ms");
}

TEST_CASE("kill: the pid of an ended command comes back as another session") {
  if (geteuid() != 0) return skip("needs root, to choose a pid");
  client c;
  bool reused = false;
  for (std::uint32_t id = 1; id < 100 && !reused; id += 2) {
    const pid_t old =
        c.run(id, shell("setsid sleep 60 & exit 0"));  // holds the streams, so that the command is kept in mind
    c.expect_exit(id);
    usleep(10000);
    // The new one gives its tag up, so that only the session could tell whose it is.
    const start_request untagged = {{"prlimit", "--locks=5:5", "sleep", "60"}};
    std::ofstream("/proc/sys/kernel/ns_last_pid") << old - 1;
    reused = c.run(id + 1, untagged) == old;
    if (!reused) continue;
    REQUIRE(becomes([&] { return command_line_of(old) == "sleep 60"; }));
    c.send_number(frame_type::kill, id, 0);
    CHECK(survivors(c, id) == 0);
    CHECK(is_alive(old));
    c.send_number(frame_type::kill, id + 1, 0);
    CHECK(survivors(c, id + 1) == 0);
    CHECK_FALSE(is_alive(old));
  }
  if (!reused) skip("the pid was always taken by others");
}
