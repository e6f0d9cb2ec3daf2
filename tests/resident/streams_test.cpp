#include "resident/client.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;
using wire::stream;

namespace {

std::string pattern(std::size_t size) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>(i % 251);
  return text;
}

/// Takes output frames of stream 1 for as long as they come.
std::string what_comes(client& c, std::uint32_t id, milliseconds quiet = milliseconds(150)) {
  std::string text;
  while (true) {
    try {
      text += c.expect(frame_type::output, id, quiet).payload;
    } catch (const std::runtime_error&) {
      return text;
    }
  }
}

}  // namespace

TEST_CASE("framed: both streams, told apart, and their ends") {
  client c;
  c.run(1, shell("echo out; echo err >&2"));
  CHECK(c.output(1, stream::out) == "out\n");
  CHECK(c.output(1, stream::err) == "err\n");
  c.expect_exit(1);
}

TEST_CASE("framed: merged, standard error has the order of standard output and no stream of its own") {
  client c;
  c.run(1, child({"interleave", "3"}, wire::start_merge_stderr));
  CHECK(c.output(1) == "o0\ne0\no1\ne1\no2\ne2\n");
  c.expect_exit(1);
  CHECK(c.stays_silent(frame_type::output_end, 1, milliseconds(20)));
}

TEST_CASE("framed: every byte, over both transports") {
  for (const transport over : {transport::socket, transport::pipes}) {
    client c({.over = over});
    c.run(1, child({"flood", "5000000"}));
    CHECK(c.output(1) == pattern(5000000));
    c.expect_exit(1);
  }
}

TEST_CASE("framed: standard input is /dev/null unless it is asked for") {
  client c;
  c.run(1, shell("readlink /proc/self/fd/0; cat"));
  CHECK(c.output(1) == "/dev/null\n");
  c.expect_exit(1);
}

TEST_CASE("framed: input goes through, and ends") {
  client c;
  c.start(1, child({"cat"}, wire::start_input_pipe));
  const std::string text = pattern(200000);
  for (std::size_t at = 0; at < text.size(); at += 50000) c.send(frame_type::input, 1, text.substr(at, 50000));
  c.send(frame_type::input_end, 1);
  CHECK(c.output(1) == text);
  CHECK(c.expect_exit(1).wait_status == 0);
}

TEST_CASE("framed: an empty input, sent before it runs") {
  client c;
  c.start(1, child({"cat"}, wire::start_input_pipe));
  c.send(frame_type::input, 1, "");
  c.send(frame_type::input_end, 1);
  c.send(frame_type::input, 1, "too late");
  CHECK(c.output(1).empty());
  CHECK(c.expect_exit(1).wait_status == 0);
}

TEST_CASE("credit: an output stream sends exactly what it was granted") {
  client c;
  start_request request = child({"flood", "1000000"});
  request.credit = 1000;
  c.run(1, request);
  CHECK(what_comes(c, 1).size() == 1000);
  c.send_number(frame_type::credit, 1, 1, 1);
  CHECK(what_comes(c, 1).size() == 1);
  c.send_number(frame_type::credit, 1, 70000, 1);
  CHECK(what_comes(c, 1).size() == 70000);
  CHECK(burnt(c.pid()).count() < 5000);
  c.send_number(frame_type::credit, 1, ~std::uint64_t{0}, 1);
  c.send_number(frame_type::credit, 1, ~std::uint64_t{0}, 1);
  CHECK(c.output(1).size() == 1000000 - 71001);
  c.expect_exit(1);
}

TEST_CASE("credit: each stream has its own") {
  client c;
  start_request request = shell("head -c 5000 /dev/zero >&2; head -c 5000 /dev/zero");
  request.credit = 10;
  c.run(1, request);
  c.send_number(frame_type::credit, 1, 100000, 2);
  std::string err;
  while (err.size() < 5000) {
    const frame f = c.expect(frame_type::output, 1);
    if (f.head.stream == 2) err += f.payload;
  }
  c.expect(frame_type::output_end, 1);
  c.send_number(frame_type::credit, 1, 100000, 1);
  c.expect_exit(1);
  c.expect(frame_type::output_end, 1);
}

TEST_CASE("credit: with none nothing is sent, and the command waits") {
  client c;
  start_request request = shell("head -c 200000 /dev/zero; echo done >&2");
  request.credit = 0;
  c.run(1, request);
  CHECK(c.stays_silent(frame_type::output, 1, milliseconds(150)));
  CHECK(burnt(c.pid()).count() < 5000);
  c.send_number(frame_type::credit, 1, 300000, 1);
  CHECK(c.output(1).size() == 200000);
  c.expect_exit(1);
  c.send_number(frame_type::credit, 1, 10, 2);
  CHECK(c.output(1, stream::err) == "done\n");
}

TEST_CASE("credit: input is granted as it is taken, and no sooner") {
  client c;
  c.run(2, child({"sleep", "60000"}, wire::start_input_pipe));
  std::uint64_t granted = 0;
  for (std::size_t sent = 0; sent < wire::initial_credit; sent += wire::max_data)
    c.send(frame_type::input, 2, std::string(wire::max_data, 'x'));
  while (true) {
    try {
      const frame f = c.expect(frame_type::credit, 2, milliseconds(150));
      CHECK(f.head.stream == 0);
      granted += f.number();
    } catch (const std::runtime_error&) {
      break;
    }
  }
  CHECK(granted == 65536);  // what a pipe holds
  CHECK(burnt(c.pid()).count() < 5000);
  c.send_number(frame_type::kill, 2, 0);
  c.expect(frame_type::tree_ended, 2);
}

TEST_CASE("input: all of it is granted again, to the byte") {
  client c;
  c.start(1, shell("sleep 0.05; cat >/dev/null", wire::start_input_pipe));
  std::size_t left = 3000000;
  std::uint64_t credit = wire::initial_credit;
  std::uint64_t granted = 0;
  while (granted < 3000000) {
    while (left > 0 && credit > 0) {
      const auto now = std::min<std::uint64_t>({left, credit, wire::max_data});
      c.send(frame_type::input, 1, std::string(now, 'y'));
      left -= now;
      credit -= now;
    }
    const auto more = c.expect(frame_type::credit, 1).number();
    credit += more;
    granted += more;
  }
  CHECK(granted == 3000000);
  c.send(frame_type::input_end, 1);
  CHECK(c.expect_exit(1).wait_status == 0);
}

TEST_CASE("input: closed by the command is told once, and what comes later means nothing") {
  client c;
  c.run(1, child({"close", "60000", "0"}, wire::start_input_pipe));
  CHECK(c.output(1, stream::out, "closed\n") == "closed\n");
  c.expect(frame_type::input_closed, 1);
  c.send(frame_type::input, 1, "nobody reads this");
  c.send(frame_type::input_end, 1);
  CHECK(c.stays_silent(frame_type::input_closed, 1, milliseconds(50)));
  CHECK(burnt(c.pid()).count() < 5000);
}

TEST_CASE("input: what waits when the command closes is thrown away") {
  client c;
  c.start(1, shell("sleep 0.1; exec <&-; echo closed; sleep 60", wire::start_input_pipe));
  for (int i = 0; i < 4; ++i) c.send(frame_type::input, 1, std::string(wire::max_data, 'x'));
  c.expect(frame_type::input_closed, 1);
  CHECK(c.output(1, stream::out, "closed\n") == "closed\n");
}

TEST_CASE("handed over: the pipes come with the start, in their order") {
  client c;
  c.start(1, shell("read line; echo \"out $line\"; echo \"err $line\" >&2",
                   wire::start_input_pipe | wire::start_hand_over));
  const frame started = c.expect(frame_type::started, 1);
  REQUIRE(started.fds.size() == 3);
  REQUIRE(write(started.fds[0].get(), "line\n", 5) == 5);
  CHECK(read_all(started.fds[1].get()) == "out line\n");
  CHECK(read_all(started.fds[2].get()) == "err line\n");
  c.expect_exit(1);
  CHECK(c.stays_silent(frame_type::output_end, 1, milliseconds(20)));
}

TEST_CASE("handed over: only the pipes that there are") {
  client c;
  c.start(1, shell("echo x", wire::start_hand_over));
  CHECK(c.expect(frame_type::started, 1).fds.size() == 2);
  c.start(2, shell("echo x; echo y >&2", wire::start_hand_over | wire::start_merge_stderr));
  const frame merged = c.expect(frame_type::started, 2);
  REQUIRE(merged.fds.size() == 1);
  CHECK(read_all(merged.fds[0].get()) == "x\ny\n");
  c.start(3, child({"cat"}, wire::start_hand_over | wire::start_merge_stderr | wire::start_input_pipe));
  frame both = c.expect(frame_type::started, 3);
  REQUIRE(both.fds.size() == 2);
  REQUIRE(write(both.fds[0].get(), "abc", 3) == 3);
  both.fds[0].reset();
  CHECK(read_all(both.fds[1].get()) == "abc");
}

TEST_CASE("handed over: the resident keeps no end of the pipes") {
  client c;
  c.start(1, child({"close", "60000", "0", "1", "2"}, wire::start_hand_over | wire::start_input_pipe));
  frame started = c.expect(frame_type::started, 1);
  REQUIRE(started.fds.size() == 3);
  CHECK(read_all(started.fds[1].get()).empty());  // the end comes while the command lives
  CHECK(read_all(started.fds[2].get()).empty());
  signal(SIGPIPE, SIG_IGN);
  CHECK(write(started.fds[0].get(), "x", 1) < 0);
  CHECK(c.stays_silent(frame_type::exited, 1, milliseconds(20)));
}
