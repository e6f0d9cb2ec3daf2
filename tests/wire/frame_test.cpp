#include "wire/messages.hpp"

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace berth;
using wire::frame_type;
using wire::parse_result;

namespace {

std::string bytes_of(const wire::header& h, std::string_view payload = {}) {
  char head[wire::header_size];
  wire::put_header(h, head);
  return std::string(head, sizeof head).append(payload);
}

bool can_be(const wire::header& h) {
  char head[wire::header_size];
  wire::put_header(h, head);
  wire::header back;
  return wire::get_header(head, back);
}

}  // namespace

TEST_CASE("header: twelve bytes, little-endian") {
  const std::string bytes = bytes_of({0x00010203, frame_type::output, 2, 0x0405, 0x06070809});
  CHECK(bytes == std::string("\x03\x02\x01\x00\x24\x02\x05\x04\x09\x08\x07\x06", 12));
}

TEST_CASE("header: what was put is got back") {
  char head[wire::header_size];
  wire::put_header({65536, frame_type::input, 3, 0xffff, 0xffffffff}, head);
  wire::header h;
  REQUIRE(wire::get_header(head, h));
  CHECK(h.size == 65536);
  CHECK(h.type == frame_type::input);
  CHECK(h.fds == 3);
  CHECK(h.stream == 0xffff);
  CHECK(h.id == 0xffffffff);
}

TEST_CASE("header: only known types can be") {
  int known = 0;
  for (int type = 0; type < 256; ++type) {
    bool fits = false;
    for (const std::uint32_t size :
         {0u, 4u, 8u, 12u, 32u, wire::start::least_size, wire::hello::size, wire::welcome::size})
      fits = fits || can_be({size, static_cast<frame_type>(type), 0, 0, 0});
    known += fits ? 1 : 0;
  }
  CHECK(known == 24);
}

TEST_CASE("header: a size that a type cannot have is refused") {
  const auto fits = [](frame_type type, std::uint32_t size) { return can_be({size, type, 0, 0, 0}); };
  CHECK(fits(frame_type::start, wire::max_payload));
  CHECK_FALSE(fits(frame_type::start, wire::max_payload + 1));
  CHECK_FALSE(fits(frame_type::start, wire::start::least_size - 1));
  CHECK(fits(frame_type::input, wire::max_data));
  CHECK_FALSE(fits(frame_type::input, wire::max_data + 1));
  CHECK(fits(frame_type::output, 0));
  CHECK_FALSE(fits(frame_type::kill, 7));
  CHECK_FALSE(fits(frame_type::kill, 9));
  CHECK_FALSE(fits(frame_type::bye, 1));
  CHECK_FALSE(fits(frame_type::hello, wire::hello::size - 1));
  CHECK_FALSE(fits(frame_type::ping, std::numeric_limits<std::uint32_t>::max()));
}

TEST_CASE("header: at most three descriptors") {
  CHECK(can_be({8, frame_type::started, 3, 0, 1}));
  CHECK_FALSE(can_be({8, frame_type::started, 4, 0, 1}));
  CHECK_FALSE(can_be({8, frame_type::started, 255, 0, 1}));
}

TEST_CASE("parse: needs more until the last byte is there") {
  const std::string whole = bytes_of({5, frame_type::output, 0, 1, 7}, "hello");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    wire::header h;
    std::string_view payload;
    CHECK(wire::parse(std::string_view(whole).substr(0, size), h, payload) == parse_result::need_more);
  }
}

TEST_CASE("parse: takes one frame and leaves what follows") {
  const std::string two = bytes_of({3, frame_type::output, 0, 1, 7}, "one") + bytes_of({0, frame_type::bye, 0, 0, 0});
  wire::header h;
  std::string_view payload;
  REQUIRE(wire::parse(two, h, payload) == parse_result::frame);
  CHECK(payload == "one");
  CHECK(h.id == 7);
  CHECK(payload.data() == two.data() + wire::header_size);
  REQUIRE(wire::parse(std::string_view(two).substr(wire::header_size + 3), h, payload) == parse_result::frame);
  CHECK(h.type == frame_type::bye);
  CHECK(payload.empty());
}

TEST_CASE("parse: a header that cannot be is broken before its payload has come") {
  wire::header h;
  std::string_view payload;
  CHECK(wire::parse(bytes_of({wire::max_payload + 1, frame_type::start, 0, 0, 1}), h, payload) == parse_result::broken);
  CHECK(wire::parse(std::string(12, '\0'), h, payload) == parse_result::broken);
  CHECK(wire::parse("GET / HTTP/1.1\r\n", h, payload) == parse_result::broken);
}

TEST_CASE("reader: integers of each size, and their edges") {
  std::string bytes;
  wire::writer(bytes).u8(0xff).u16(0x8001).u32(0x80000001).u64(0x8000000000000001).u64(0);
  CHECK(bytes.size() == 1 + 2 + 4 + 8 + 8);
  wire::reader r(bytes);
  CHECK(r.u8() == 0xff);
  CHECK(r.u16() == 0x8001);
  CHECK(r.u32() == 0x80000001);
  CHECK(r.u64() == 0x8000000000000001);
  CHECK_FALSE(r.done());
  CHECK(r.u64() == 0);
  CHECK(r.done());
}

TEST_CASE("reader: after what does not fit everything is zero or empty") {
  wire::reader r("\x01\x02\x03");
  CHECK(r.u32() == 0);
  CHECK_FALSE(r.ok());
  CHECK(r.u8() == 0);
  CHECK(r.bytes().empty());
  CHECK(r.raw(1).empty());
  CHECK_FALSE(r.done());
}

TEST_CASE("reader: a length larger than the rest is refused") {
  std::string bytes;
  wire::writer(bytes).u32(0xffffffff).raw("abc");
  wire::reader r(bytes);
  CHECK(r.bytes().empty());
  CHECK_FALSE(r.ok());
}

TEST_CASE("reader: bytes hold anything, and nothing") {
  std::string bytes;
  const std::string_view odd("a\0b\xff", 4);
  wire::writer(bytes).bytes(odd).bytes({}).bytes("end");
  wire::reader r(bytes);
  CHECK(r.bytes() == odd);
  CHECK(r.bytes().empty());
  CHECK(r.ok());
  CHECK(r.bytes() == "end");
  CHECK(r.done());
}
