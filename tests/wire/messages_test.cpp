#include "wire/messages.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <string>

using namespace berth;

namespace {

/// Cut anywhere, or one byte too long, it is refused.
template <class Message>
void check_exact_size(const std::string& bytes) {
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Message m;
    CHECK_FALSE(m.get(std::string_view(bytes).substr(0, size)));
  }
  Message m;
  CHECK(m.get(bytes));
  CHECK_FALSE(m.get(bytes + '\0'));
}

/// The header knows the size of a message that has only one.
void check_header_takes(wire::frame_type type, const std::string& bytes) {
  char head[wire::header_size];
  wire::header h{static_cast<std::uint32_t>(bytes.size()), type, 0, 0, 0};
  wire::put_header(h, head);
  CHECK(wire::get_header(head, h));
}

}  // namespace

TEST_CASE("hello: there and back") {
  wire::hello h;
  h.flags = wire::hello_has_owner_pidfd;
  h.lease_ms = 900000;
  h.attempt = 7;
  h.received = 0x123456789abcdef0;
  std::memcpy(h.token, "0123456789abcdef", wire::token_size);
  std::string bytes;
  h.put(bytes);
  CHECK(bytes.substr(0, 4) == "BRTH");
  wire::hello back;
  REQUIRE(back.get(bytes));
  CHECK(back.version == wire::version);
  CHECK(back.flags == 1);
  CHECK(back.lease_ms == 900000);
  CHECK(back.attempt == 7);
  CHECK(back.received == 0x123456789abcdef0);
  CHECK(std::memcmp(back.token, h.token, wire::token_size) == 0);
  CHECK(bytes.size() == wire::hello::size);
  check_exact_size<wire::hello>(bytes);
  check_header_takes(wire::frame_type::hello, bytes);
}

TEST_CASE("hello: another magic is refused, another version is for the reader to judge") {
  wire::hello h;
  h.version = 77;
  std::string bytes;
  h.put(bytes);
  wire::hello back;
  REQUIRE(back.get(bytes));
  CHECK(back.version == 77);
  bytes[0] = 'X';
  CHECK_FALSE(back.get(bytes));
}

TEST_CASE("welcome: there and back") {
  wire::welcome w;
  w.pid = 4711;
  w.nonce = 0x40000001;
  w.attempt = 8;
  w.received = 1ull << 40;
  w.token[15] = 'z';
  std::string bytes;
  w.put(bytes);
  wire::welcome back;
  REQUIRE(back.get(bytes));
  CHECK(back.pid == 4711);
  CHECK(back.nonce == 0x40000001);
  CHECK(back.attempt == 8);
  CHECK(back.received == 1ull << 40);
  CHECK(back.token[15] == 'z');
  CHECK(bytes.size() == wire::welcome::size);
  check_exact_size<wire::welcome>(bytes);
  check_header_takes(wire::frame_type::welcome, bytes);
  bytes[1] = 'X';
  CHECK_FALSE(back.get(bytes));
}

TEST_CASE("start: fields first, then the words") {
  wire::start s;
  s.flags = wire::start_hand_over | wire::start_clear_env;
  s.grace_ms = 1;
  s.credit = 2;
  s.columns = 80;
  s.rows = 24;
  s.cwd = "/somewhere";
  s.cgroup = "/sys/fs/cgroup/user";
  s.cgroup_memory = 1ull << 40;
  s.cgroup_processes = 3;
  s.argc = 2;
  s.envc = 1;
  s.limitc = 1;
  std::string bytes;
  s.put(bytes);
  wire::writer(bytes).bytes("echo").bytes("").bytes("A=b");
  wire::put_limit(bytes, wire::limit::nice, ~std::uint64_t{0});
  wire::reader r(bytes);
  wire::start back;
  REQUIRE(back.get(r));
  CHECK(back.flags == s.flags);
  CHECK(back.grace_ms == 1);
  CHECK(back.credit == 2);
  CHECK(back.columns == 80);
  CHECK(back.rows == 24);
  CHECK(back.cwd == "/somewhere");
  CHECK(back.cgroup == "/sys/fs/cgroup/user");
  CHECK(back.cgroup_memory == 1ull << 40);
  CHECK(back.cgroup_processes == 3);
  CHECK(back.argc == 2);
  CHECK(back.envc == 1);
  CHECK(back.limitc == 1);
  CHECK(r.bytes() == "echo");
  CHECK(r.bytes().empty());
  CHECK(r.bytes() == "A=b");
  CHECK(r.u32() == 6);
  CHECK(r.u64() == ~std::uint64_t{0});
  CHECK(r.done());
}

TEST_CASE("start: a cut field or no word at all is refused") {
  wire::start s;
  s.cwd = "/";
  s.argc = 1;
  std::string bytes;
  s.put(bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    wire::reader r(std::string_view(bytes).substr(0, size));
    CHECK_FALSE(wire::start().get(r));
  }
  s.argc = 0;
  std::string none;
  s.put(none);
  wire::reader r(none);
  CHECK_FALSE(wire::start().get(r));
}

TEST_CASE("resize: there and back; a size that no terminal has is refused") {
  const wire::resize size{65535, 1};
  std::string bytes;
  size.put(bytes);
  wire::resize back;
  REQUIRE(back.get(bytes));
  CHECK(back.columns == 65535);
  CHECK(back.rows == 1);
  check_exact_size<wire::resize>(bytes);
  check_header_takes(wire::frame_type::resize, bytes);
  for (const wire::resize& large : {wire::resize{65536, 1}, wire::resize{1, 65536}}) {
    std::string refused;
    large.put(refused);
    CHECK_FALSE(back.get(refused));
  }
}

TEST_CASE("start_failed: there and back") {
  const wire::start_failed f{wire::start_step::limits, 20, 5};
  std::string bytes;
  f.put(bytes);
  wire::start_failed back;
  REQUIRE(back.get(bytes));
  CHECK(back.step == wire::start_step::limits);
  CHECK(back.error == 20);
  CHECK(back.detail == 5);
  check_exact_size<wire::start_failed>(bytes);
  check_header_takes(wire::frame_type::start_failed, bytes);
}

TEST_CASE("exited: there and back") {
  const wire::exited e{0x8b, 1ull << 40, 2, 3ull << 33, wire::cgroup_fork_refused};
  std::string bytes;
  e.put(bytes);
  wire::exited back;
  REQUIRE(back.get(bytes));
  CHECK(back.wait_status == 0x8b);
  CHECK(back.user_us == 1ull << 40);
  CHECK(back.system_us == 2);
  CHECK(back.max_rss_bytes == 3ull << 33);
  CHECK(back.cgroup_events == 2);
  check_exact_size<wire::exited>(bytes);
  check_header_takes(wire::frame_type::exited, bytes);
}

TEST_CASE("numbers and survivors") {
  std::string bytes;
  wire::put_number(bytes, 0xfedcba9876543210);
  std::uint64_t n = 0;
  REQUIRE(wire::get_number(bytes, n));
  CHECK(n == 0xfedcba9876543210);
  CHECK_FALSE(wire::get_number("1234567", n));
  CHECK_FALSE(wire::get_number("123456789", n));
  check_header_takes(wire::frame_type::kill, bytes);

  std::string ended;
  wire::writer(ended).u32(2);
  wire::put_survivor(ended, 7, "sudo");
  wire::put_survivor(ended, 8, "");
  wire::reader r(ended);
  CHECK(r.u32() == 2);
  CHECK(r.u32() == 7);
  CHECK(r.bytes() == "sudo");
  CHECK(r.u32() == 8);
  CHECK(r.bytes().empty());
  CHECK(r.done());
}
