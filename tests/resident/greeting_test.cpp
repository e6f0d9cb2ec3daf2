#include "resident/client.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

std::string failure_of(client& c) {
  const std::string payload = c.expect(frame_type::failed).payload;
  wire::reader fields(payload);
  const std::string why(fields.bytes());
  CHECK(fields.done());
  const int status = c.wait_end();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 1);
  return why;
}

wire::hello unleased() { return {}; }

}  // namespace

TEST_CASE("greeting: a hello is answered with pid, nonce and the token") {
  for (const transport over : {transport::socket, transport::pipes}) {
    client c({.over = over, .greet = false});
    wire::hello h;
    h.token[3] = 'x';
    h.attempt = 9;
    const wire::welcome w = c.greet(h);
    CHECK(w.version == wire::version);
    CHECK(static_cast<pid_t>(w.pid) == c.pid());
    CHECK(w.nonce != 0);
    CHECK(w.received == 0);
    CHECK(w.attempt == 9);
    CHECK(w.token[3] == 'x');
  }
}

TEST_CASE("greeting: residents pick different nonces") {
  client a;
  client b;
  CHECK(a.nonce() != b.nonce());
}

TEST_CASE("greeting: nothing is said before the hello") {
  client c({.greet = false});
  CHECK_FALSE(c.next(milliseconds(100)));
  c.greet();
}

TEST_CASE("greeting: a hello may come byte by byte") {
  client c({.greet = false});
  const std::string bytes = frame_bytes(frame_type::hello, 0, 0, hello_bytes(unleased()));
  for (const char byte : bytes) c.send_raw({&byte, 1});
  c.expect(frame_type::welcome);
}

TEST_CASE("greeting: another version is refused in words") {
  client c({.greet = false});
  wire::hello h;
  h.version = 2;
  c.send(frame_type::hello, 0, hello_bytes(h));
  CHECK(failure_of(c).find("version 1") != std::string::npos);
}

TEST_CASE("greeting: another magic is refused") {
  client c({.greet = false});
  wire::hello h;
  h.magic = 1;
  c.send(frame_type::hello, 0, hello_bytes(h));
  CHECK(failure_of(c) == "not a hello");
}

TEST_CASE("greeting: garbage is refused") {
  client c({.greet = false});
  c.send_raw("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  CHECK(failure_of(c) == "not a hello");
}

TEST_CASE("greeting: any frame before the hello is refused, however long it claims to be") {
  client c({.greet = false});
  c.send_raw(frame_bytes(frame_type::ping, 0, 0, number_bytes(1)) + std::string(8, 'x'));
  CHECK(failure_of(c) == "not a hello");
}

TEST_CASE("greeting: a token that is not repeated in the hello is refused") {
  client c({.greet = false});
  c.send_raw(std::string(wire::token_size, 'a') + frame_bytes(frame_type::hello, 0, 0, hello_bytes(unleased())));
  CHECK(failure_of(c) == "not a hello");
}

TEST_CASE("frames: a second hello ends an unleased connection") {
  client c;
  c.send(frame_type::hello, 0, hello_bytes(unleased()));
  CHECK(failure_of(c) == "a frame that cannot be");
}

TEST_CASE("frames: one that cannot be ends the connection, and with it the commands") {
  std::string wrong;
  SUBCASE("an oversize frame") { wrong = std::string("\x01\x00\x80\x00\x02\x00\x00\x00\x01\x00\x00\x00", 12); }
  SUBCASE("an unknown type") { wrong = std::string("\x00\x00\x00\x00\x0a\x00\x00\x00\x00\x00\x00\x00", 12); }
  SUBCASE("too many descriptors") { wrong = frame_bytes(frame_type::abandon, 1, 0, {}, 4); }
  SUBCASE("a number cut short") { wrong = frame_bytes(frame_type::kill, 1, 0, "1234"); }
  SUBCASE("input larger than a frame of data") {
    wrong = frame_bytes(frame_type::input, 1, 0, std::string(wire::max_data + 1, 'x')).substr(0, 12);
  }
  client c;
  const pid_t pid = c.run(1, child({"stay"}));
  c.send_raw(wrong);
  CHECK(failure_of(c) == "a frame that cannot be");
  CHECK(kill(pid, 0) != 0);
}

TEST_CASE("frames: those of the other direction and for unknown commands mean nothing") {
  client c;
  c.send_number(frame_type::pong, 0, 1);
  c.send_number(frame_type::started, 9, 1);
  c.send(frame_type::input, 9, "text");
  c.send(frame_type::input_end, 9);
  c.send_number(frame_type::signal, 9, SIGTERM);
  c.send_number(frame_type::credit, 9, 100, 1);
  c.send_number(frame_type::ack, 0, 100);
  c.send(frame_type::abandon, 9);
  c.send_number(frame_type::ping, 0, 0xfedcba9876543210);
  const auto answer = c.next();
  REQUIRE(answer);
  CHECK(answer->type() == frame_type::pong);
  CHECK(answer->number() == 0xfedcba9876543210);
}

TEST_CASE("frames: thousands in one piece, and one in many pieces") {
  client c;
  std::string many;
  for (std::uint64_t i = 0; i < 5000; ++i) many += frame_bytes(frame_type::ping, 0, 0, number_bytes(i));
  for (std::size_t at = 0; at < many.size(); at += 4001) c.send_raw(std::string_view(many).substr(at, 4001));
  for (std::uint64_t i = 0; i < 5000; ++i) REQUIRE(c.expect(frame_type::pong).number() == i);
}

TEST_CASE("frames: descriptors that nobody asked for are closed, and do not pass for those of a later frame") {
  client c;
  int unwanted[2];
  int wanted[2];
  REQUIRE(pipe(unwanted) == 0);
  REQUIRE(pipe(wanted) == 0);
  c.send(frame_type::ping, 0, number_bytes(1), 0, {unwanted[0]});
  c.send(frame_type::abandon, 0, {}, 0, {wanted[0]});
  close(unwanted[0]);
  close(wanted[0]);
  signal(SIGPIPE, SIG_IGN);
  CHECK(becomes([&] { return write(unwanted[1], "x", 1) < 0; }));
  for (int i = 0; i < 40; ++i) REQUIRE(write(wanted[1], std::string(4096, 'x').data(), 4096) == 4096);
  close(unwanted[1]);
  close(wanted[1]);
}

TEST_CASE("resident: an idle one burns nothing") {
  client c;
  CHECK(burnt(c.pid()).count() < 5000);
}
