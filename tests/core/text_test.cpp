#include "core/text.hpp"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

using namespace berth;

namespace {

const std::string bad = "\xEF\xBF\xBD";

/// `n` times U+FFFD.
std::string bads(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += bad;
  return text;
}

/// The UTF-8 form of a code point, by arithmetic alone; surrogates and too large ones too.
std::string encode(char32_t c, int size) {
  static const unsigned char first[] = {0, 0x00, 0xC0, 0xE0, 0xF0};
  std::string bytes;
  for (int i = size - 1; i > 0; --i, c >>= 6) bytes.insert(bytes.begin(), static_cast<char>(0x80 | (c & 0x3F)));
  bytes.insert(bytes.begin(), static_cast<char>(first[size] | c));
  return bytes;
}

int size_of(char32_t c) { return c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4; }

}  // namespace

TEST_CASE("trimmed: blanks go at both ends alone") {
  CHECK(trimmed(" \ta b\t ") == "a b");
  CHECK(trimmed("a\r") == "a\r");
  CHECK(trimmed("\ra\r", " \r") == "a");
  CHECK(trimmed(" \t").empty());
  CHECK(trimmed("").empty());
}

TEST_CASE("to_text: every code point passes unchanged") {
  std::string all;
  for (char32_t c = 0; c <= 0x10FFFF; ++c)
    if (c < 0xD800 || c > 0xDFFF) all += encode(c, size_of(c));
  CHECK(to_text(all) == all);
  CHECK(is_utf8(all));
}

TEST_CASE("to_text: every overlong form is refused") {
  for (char32_t c = 0; c < 0x80; ++c) CHECK(to_text(encode(c, 2)) == bads(2));
  for (char32_t c = 0; c < 0x800; c += 7) CHECK(to_text(encode(c, 3)) == bads(3));
  for (char32_t c = 0; c < 0x10000; c += 77) CHECK(to_text(encode(c, 4)) == bads(4));
}

TEST_CASE("to_text: surrogates and what lies above U+10FFFF are refused") {
  for (char32_t c = 0xD800; c <= 0xDFFF; ++c) CHECK(to_text(encode(c, 3)) == bads(3));
  for (char32_t c = 0x110000; c < 0x200000; c += 997) CHECK(to_text(encode(c, 4)) == bads(4));
}

TEST_CASE("to_text: a truncated character is one replacement") {
  for (const char32_t c : {U'\u00e9', U'\u20ac', U'\U0001F600'})
    for (std::size_t n = 1; n < encode(c, size_of(c)).size(); ++n) {
      const auto part = encode(c, size_of(c)).substr(0, n);
      CHECK(to_text(part) == bad);
      CHECK(to_text(part + "x") == bad + "x");
      CHECK(to_text(part + part) == bads(2));
      CHECK_FALSE(is_utf8(part));
    }
}

TEST_CASE("to_text: stray bytes are one replacement each") {
  for (int byte = 0x80; byte <= 0xFF; ++byte)
    CHECK(to_text(std::string("a") + static_cast<char>(byte) + "b") == "a" + bad + "b");
  CHECK(to_text("\x80\x80\x80") == bads(3));
}

TEST_CASE("to_text: the example of the Unicode standard, table 3-8") {
  CHECK(to_text("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41") == bads(8) + "A");
  CHECK(to_text("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41") == bads(8) + "A");
  CHECK(to_text("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42") == bads(5) + "A" + bads(2) + "B");
  CHECK(to_text("\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41") == bads(4) + "A");
}

TEST_CASE("utf8_floor, utf8_ceil: cut at the characters around") {
  const std::string text = "a\u00e9\u20ac\U0001F600z";  // begins at 0 1 3 6 10, ends at 11
  const std::vector<std::size_t> floors{0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11};
  const std::vector<std::size_t> ceils{0, 1, 3, 3, 6, 6, 6, 10, 10, 10, 10, 11, 11};
  for (std::size_t at = 0; at < floors.size(); ++at) {
    CHECK(utf8_floor(text, at) == floors[at]);
    CHECK(utf8_ceil(text, at) == ceils[at]);
  }
}

TEST_CASE("utf8_floor, utf8_ceil: bytes that are not UTF-8 are cut anywhere") {
  for (const std::string text : {"\x80\x80\x80\x80\x80", "\xE2\x82", "a\xC0\xAF", "\xF0\x9F\x98"})
    for (std::size_t at = 0; at <= text.size(); ++at) {
      CHECK(utf8_floor(text, at) == at);
      CHECK(utf8_ceil(text, at) == at);
    }
}

TEST_CASE("utf8_stream: gives the same bytes however they come, cut at characters") {
  const std::string text = "a\u00e9\u20ac\U0001F600z\x80\xF0\x9F\xFF\u20ac";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    utf8_stream stream;
    std::string all;
    for (std::size_t at = 0; at < text.size(); at += step) {
      const auto piece = stream.feed(std::string_view(text).substr(at, step));
      all += piece;
      CHECK(utf8_floor(text, all.size()) == all.size());
    }
    CHECK(stream.finish().empty());
    CHECK(all == text);
  }
}

TEST_CASE("utf8_stream: keeps no more than an unfinished character") {
  utf8_stream stream;
  CHECK(stream.feed("x\xF0\x9F") == "x");
  CHECK(stream.feed("\x98").empty());
  CHECK(stream.finish() == "\xF0\x9F\x98");
  CHECK(stream.finish().empty());
  CHECK(stream.feed("\x80\x80\x80\x80") == "\x80\x80\x80\x80");
  CHECK(stream.feed("\xE0\x80") == "\xE0\x80");
  CHECK(stream.feed("\xFF") == "\xFF");
}
