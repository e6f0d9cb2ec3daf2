#include "resident/client.hpp"

#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

constexpr std::string_view token = "0123456789ABCDEF";

wire::hello hello(std::uint32_t lease_ms, std::uint64_t received = 0) {
  wire::hello h;
  h.lease_ms = lease_ms;
  h.received = received;
  std::memcpy(h.token, token.data(), token.size());
  return h;
}

std::string greeting(std::uint32_t lease_ms, std::uint64_t received) {
  return greeting_bytes(hello(lease_ms, received));
}

/// An owner over pipes whose connection can be cut: it keeps what it sent, counts what it takes, and comes back.
class leased {
 public:
  explicit leased(std::uint32_t lease_ms = 60000) : lease_ms_(lease_ms), c({.over = transport::pipes, .greet = false}) {
    c.greet(hello(lease_ms));
  }

  void send(frame_type type, std::uint32_t id, std::string_view payload = {}, std::uint16_t stream = 0) {
    const std::string bytes = frame_bytes(type, id, stream, payload);
    sent_ += bytes;
    c.send_raw(bytes);
  }
  /// As a connection that breaks off in the middle: only so many bytes of the frame arrive.
  void send_cut(frame_type type, std::uint32_t id, std::string_view payload, std::size_t arrive) {
    const std::string bytes = frame_bytes(type, id, 0, payload);
    sent_ += bytes;
    c.send_raw(std::string_view(bytes).substr(0, arrive));
  }

  std::optional<frame> next(milliseconds time = patience) {
    auto f = c.next(time);
    if (f) received_ += wire::header_size + f->payload.size();
    if (f && f->type() == frame_type::ack) acknowledged_ = f->number();
    return f;
  }

  frame expect(frame_type type) {
    while (true) {
      auto f = next();
      if (!f) throw std::runtime_error("no frame " + std::to_string(static_cast<int>(type)));
      if (f->type() == type) return std::move(*f);
    }
  }

  /// Comes back; `pieces` says how the bytes arrive. All that lies between is lost.
  wire::welcome attach(std::size_t piece = 1000) {
    c.raw_bytes(milliseconds(50));
    const std::string bytes = greeting(lease_ms_, received_);
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      c.send_raw(std::string_view(bytes).substr(at, piece));
      if (piece < bytes.size()) usleep(500);
    }
    std::string answer;
    while (answer.find(token) == std::string::npos) answer += read_some();
    answer.erase(0, answer.find(token) + token.size());
    while (answer.size() < wire::header_size + wire::welcome::size) answer += read_some();
    wire::welcome w;
    REQUIRE(w.get(answer.substr(wire::header_size, wire::welcome::size)));
    rest_ = answer.substr(wire::header_size + wire::welcome::size);
    REQUIRE(w.received <= sent_.size());
    c.send_raw(std::string_view(sent_).substr(w.received));
    return w;
  }

  /// What comes next; throws when nothing does.
  std::string read_some() {
    for (int i = 0; i < 100; ++i) {
      std::string bytes = c.raw_bytes(milliseconds(20));
      if (!bytes.empty()) return bytes;
    }
    throw std::runtime_error("the resident says nothing");
  }

  std::uint64_t acknowledged() const { return acknowledged_; }
  std::uint64_t sent() const { return sent_.size(); }
  std::uint64_t received() const { return received_; }
  /// Bytes that came behind the welcome of attach().
  std::string& rest() { return rest_; }
  void has_received(std::uint64_t bytes) { received_ += bytes; }

 private:
  std::uint32_t lease_ms_;
  std::string sent_;
  std::string rest_;
  std::uint64_t received_ = 0;
  std::uint64_t acknowledged_ = 0;

 public:
  client c;
};

/// Output of stream 1 in these bytes, and that they are whole frames but for the end.
std::string output_in(std::string_view bytes, std::size_t* whole = nullptr) {
  std::string text;
  std::size_t taken = 0;
  wire::header h;
  std::string_view payload;
  while (wire::parse(bytes.substr(taken), h, payload) == wire::parse_result::frame) {
    if (h.type == frame_type::output && h.stream == 1) text += payload;
    taken += wire::header_size + h.size;
  }
  if (whole != nullptr) *whole = taken;
  return text;
}

}  // namespace

TEST_CASE("lease: the greeting is preceded by its token, both ways") {
  client c({.over = transport::pipes, .greet = false});
  c.send_raw(greeting(200, 0));
  const std::string answer = c.raw_bytes(milliseconds(100));
  REQUIRE(answer.size() == token.size() + wire::header_size + wire::welcome::size);
  CHECK(answer.substr(0, token.size()) == token);
  wire::welcome w;
  REQUIRE(w.get(answer.substr(token.size() + wire::header_size)));
  CHECK(w.received == 0);
  CHECK(std::string_view(w.token, token.size()) == token);
}

TEST_CASE("lease: nothing is handed over") {
  client c({.greet = false});
  c.greet(hello(60000));
  c.start(1, shell("true", wire::start_hand_over));
  CHECK(c.expect_failure(1).step == wire::start_step::request);
}

TEST_CASE("lease: silence ends everything when it has lasted") {
  client c({.over = transport::pipes, .greet = false});
  c.greet(hello(300));
  c.run(1, child({"tree", "leave", "quiet"}));
  c.output(1, wire::stream::out, "\n");
  for (int i = 0; i < 4; ++i) {
    c.send_number(frame_type::ping, 0, 0);
    CHECK_FALSE(c.has_ended(milliseconds(200)));
  }
  c.wait_end(milliseconds(2000));
  CHECK(tagged(c.nonce()).empty());
}

TEST_CASE("lease: the end of the stream is not the owner's death, and waiting burns nothing") {
  for (const transport over : {transport::socket, transport::pipes}) {
    client c({.over = over, .greet = false});
    c.greet(hello(1000));
    const pid_t pid = c.run(1, child({"flood", "1000000"}));
    c.hang_up();
    CHECK_FALSE(c.has_ended(milliseconds(100)));
    CHECK(burnt(c.pid()).count() < 5000);
    CHECK(is_alive(pid));
    c.wait_end(milliseconds(3000));
    CHECK_FALSE(is_alive(pid));
  }
}

TEST_CASE("lease: bye ends it at once") {
  client c({.over = transport::pipes, .greet = false});
  c.greet(hello(60000));
  c.run(1, child({"stay"}));
  c.send(frame_type::bye, 0);
  CHECK(WEXITSTATUS(c.wait_end()) == 0);
}

TEST_CASE("lease: what was received is acknowledged every 64 KiB and with every pong") {
  leased o;
  o.send(frame_type::ping, 0, number_bytes(1));
  o.expect(frame_type::pong);
  o.expect(frame_type::ack);
  CHECK(o.acknowledged() == o.sent());
  o.send(frame_type::start, 1, start_bytes(shell("cat >/dev/null", wire::start_input_pipe)));
  for (int i = 0; i < 5; ++i) o.send(frame_type::input, 1, std::string(20000, 'x'));
  o.expect(frame_type::ack);
  CHECK(o.acknowledged() > 65536);
  CHECK(o.acknowledged() <= o.sent());
}

TEST_CASE("lease: after a cut in the middle of a frame, however the token arrives, each side sends exactly the rest") {
  const std::string line = "the line that is cut\n";
  for (const std::size_t arrive : {1u, 12u, 25u, 31u, 32u}) {
    for (const std::size_t piece : {1u, 7u, 16u, 1000u}) {
      leased o;
      o.send(frame_type::start, 1, start_bytes(child({"cat"}, wire::start_input_pipe)));
      o.expect(frame_type::started);
      o.send_cut(frame_type::input, 1, line, arrive);
      const wire::welcome w = o.attach(piece);
      CHECK(w.received == o.sent() - wire::header_size - line.size());
      o.send(frame_type::input_end, 1);
      std::string text = output_in(o.rest() + o.c.raw_bytes(milliseconds(60)));
      CHECK_MESSAGE(text == line, "arrive ", arrive, " piece ", piece);
    }
  }
}

TEST_CASE("lease: a frame that ends like a token begins is handled all the same") {
  leased o;
  o.send(frame_type::start, 1, start_bytes(child({"cat"}, wire::start_input_pipe)));
  o.expect(frame_type::started);
  for (const std::size_t size : {1u, 4u, 15u}) {
    o.send(frame_type::input, 1, token.substr(0, size));
    CHECK(o.expect(frame_type::output).payload == token.substr(0, size));
  }
  CHECK(burnt(o.c.pid()).count() < 5000);
}

TEST_CASE("lease: output that was lost comes again, and nothing twice") {
  leased o;
  start_request request = child({"flood", "400000"});
  request.credit = 200000;
  o.send(frame_type::start, 1, start_bytes(request));
  std::string text;
  while (text.size() < 100000) text += o.expect(frame_type::output).payload;
  // All that is under way is lost, the frame at the cut among it.
  o.attach();
  std::string bytes = o.rest();
  std::size_t whole = 0;
  while (text.size() + output_in(bytes, &whole).size() < 200000) bytes += o.read_some();
  text += output_in(bytes, &whole);
  o.has_received(whole);
  CHECK(text.size() == 200000);
  for (std::size_t i = 0; i < text.size(); ++i) REQUIRE(text[i] == static_cast<char>(i % 251));
  o.send(frame_type::credit, 1, number_bytes(200000), 1);
  bytes = bytes.substr(whole);
  while (output_in(bytes).size() < 200000) bytes += o.read_some();
  const std::string last = output_in(bytes);
  for (std::size_t i = 0; i < last.size(); ++i) REQUIRE(last[i] == static_cast<char>((i + 200000) % 251));
}

TEST_CASE("lease: what was acknowledged is not sent again") {
  leased o;
  o.send(frame_type::start, 1, start_bytes(shell("echo one; sleep 0.1; echo two")));
  CHECK(o.expect(frame_type::output).payload == "one\n");
  o.send(frame_type::ack, 0, number_bytes(o.received()));
  o.attach();
  CHECK(output_in(o.rest() + o.c.raw_bytes(milliseconds(300))) == "two\n");
}

TEST_CASE("lease: cut again and again, also in the middle of a greeting") {
  leased o;
  o.send(frame_type::start, 1, start_bytes(child({"cat"}, wire::start_input_pipe)));
  o.expect(frame_type::started);
  const std::string half = greeting(60000, 0);
  o.c.send_raw(half.substr(0, 40));
  o.c.send_raw(half.substr(0, 10));
  o.attach();
  o.c.raw_bytes(milliseconds(20));
  o.c.send_raw(greeting(60000, o.received()) + greeting(60000, o.received()) + half.substr(0, 20));
  const wire::welcome w = o.attach();
  CHECK(w.received == o.sent());
  o.send(frame_type::input, 1, "hello\n");
  CHECK(output_in(o.rest() + o.c.raw_bytes(milliseconds(100))) == "hello\n");
}

TEST_CASE("lease: an owner that went while much was queued gets the welcome first") {
  leased o;
  for (std::uint32_t id = 1; id <= 8; ++id) {
    start_request request = child({"flood", "10000000"});
    request.credit = 250000;
    o.send(frame_type::start, id, start_bytes(request));
  }
  usleep(200000);
  CHECK(burnt(o.c.pid()).count() < 5000);
  o.attach();
  std::size_t whole = 0;
  std::string bytes = o.rest();
  std::size_t outputs = output_in(bytes, &whole).size();
  while (outputs < std::size_t{8} * 250000) {
    bytes.erase(0, whole);
    bytes += o.read_some();
    outputs += output_in(bytes, &whole).size();
  }
  CHECK(outputs == std::size_t{8} * 250000);
  CHECK(burnt(o.c.pid()).count() < 5000);
}

TEST_CASE("lease: a hello with another token ends it") {
  leased o;
  o.c.raw_bytes(milliseconds(10));
  wire::hello wrong = hello(60000);
  wrong.token[0] = 'X';
  o.c.send_raw(std::string(token) + frame_bytes(frame_type::hello, 0, 0, hello_bytes(wrong)));
  CHECK(WEXITSTATUS(o.c.wait_end()) == 1);
}
