#include "resident/client.hpp"

#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>

#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;
using wire::stream;

TEST_CASE("abandon, framed: the command neither blocks nor dies of SIGPIPE") {
  client c;
  start_request request = child({"flood", "3000000"});
  request.credit = 10;
  c.run(1, request);
  c.send(frame_type::abandon, 1);
  CHECK(c.expect_exit(1).wait_status == 0);
  c.expect(frame_type::output_end, 1);
  c.expect(frame_type::output_end, 1);
}

TEST_CASE("abandon, framed: before the command has started, and without credit") {
  client c;
  start_request request = child({"flood", "3000000"});
  request.credit = 0;
  c.start(1, request);
  c.send(frame_type::abandon, 1);
  CHECK(c.expect_exit(1).wait_status == 0);
}

TEST_CASE("abandon, framed: what was left running writes on") {
  client c;
  c.run(1, shell("(sleep 0.1; head -c 500000 /dev/zero; echo; exec sleep 60) & exit 0"));
  c.expect_exit(1);
  c.send(frame_type::abandon, 1);
  CHECK(becomes([&] {
    for (const pid_t pid : tagged(c.nonce(), 1))
      if (command_line_of(pid) == "sleep 60") return true;
    return false;
  }));
  CHECK(burnt(c.pid()).count() < 5000);
  c.send_number(frame_type::kill, 1, 0);
  c.expect(frame_type::tree_ended, 1);
}

TEST_CASE("abandon, handed over: the read ends go back, and the writer writes on") {
  client c;
  c.start(1, child({"flood", "3000000"}, wire::start_hand_over));
  frame started = c.expect(frame_type::started, 1);
  REQUIRE(started.fds.size() == 2);
  c.send(frame_type::abandon, 1, {}, 0, {started.fds[0].get(), started.fds[1].get()});
  started.fds.clear();
  CHECK(c.expect_exit(1).wait_status == 0);
}

TEST_CASE("abandon, handed over: also after the command has ended, one at a time") {
  client c;
  c.start(1, shell("(sleep 0.1; head -c 500000 /dev/zero && head -c 500000 /dev/zero >&2 && exec sleep 60) & exit 0",
                   wire::start_hand_over));
  frame started = c.expect(frame_type::started, 1);
  c.expect_exit(1);
  REQUIRE(started.fds.size() == 2);
  for (unique_fd& fd : started.fds) {
    c.send(frame_type::abandon, 1, {}, 0, {fd.get()});
    fd.reset();
  }
  CHECK(becomes([&] {
    for (const pid_t pid : tagged(c.nonce(), 1))
      if (command_line_of(pid) == "sleep 60") return true;
    return false;
  }));
  CHECK(burnt(c.pid()).count() < 5000);
}
