#include "context/output_window.hpp"

#include <doctest/doctest.h>

#include <limits>

using namespace berth;

namespace {

std::string numbered(std::size_t size) {
  std::string bytes(size, ' ');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i % 23);
  return bytes;
}

/// What a window of this limit must keep of the bytes.
std::string expected(const std::string& bytes, std::size_t limit, double split) {
  if (bytes.size() <= limit) return bytes;
  const auto head = static_cast<std::size_t>(static_cast<double>(limit) * split);
  return bytes.substr(0, head) + bytes.substr(bytes.size() - (limit - head));
}

void check_window(std::size_t size, std::size_t limit, double split, std::size_t piece) {
  CAPTURE(size);
  CAPTURE(limit);
  CAPTURE(split);
  CAPTURE(piece);
  const auto bytes = numbered(size);
  output_window window(limit, split);
  for (std::size_t at = 0; at < size; at += piece) window.append(std::string_view(bytes).substr(at, piece));
  const auto totals = window.totals();
  CHECK(totals.seen() == size);
  CHECK(totals.kept() == std::min(size, limit));
  CHECK(totals.truncated() == (size > limit));
  if (size <= limit) CHECK(totals.head() == totals.kept());
  CHECK(window.take() == expected(bytes, limit, split));
}

std::string text_of(std::string_view bytes, std::size_t limit, double split) {
  output_window window(limit, split);
  window.append(bytes);
  const auto totals = window.totals();
  const auto kept = window.take();
  return window_text(kept, totals);
}

}  // namespace

TEST_CASE("window: keeps the beginning and the end, at every size and piece") {
  for (const double split : {0.0, 0.3, 0.5, 1.0}) {
    for (const std::size_t limit : {0, 1, 2, 7, 16}) {
      for (std::size_t size = 0; size <= 3 * limit + 3; ++size) {
        for (const std::size_t piece : {1, 2, 3, 5, 8, 100}) check_window(size, limit, split, piece);
      }
    }
  }
}

TEST_CASE("window: large streams cost no more than their limit") {
  output_window window(1 << 20, 0.5);
  const std::string piece(1 << 16, 'x');
  for (int i = 0; i < 4096; ++i) window.append(piece);
  CHECK(window.totals().seen() == std::uint64_t{1} << 28);
  CHECK(window.take().size() == 1 << 20);
}

TEST_CASE("window: a limit without bounds keeps all") {
  for (const double split : {0.0, 0.5, 1.0}) {
    output_window window(std::numeric_limits<std::size_t>::max(), split);
    window.append(numbered(1000));
    CHECK(!window.totals().truncated());
    CHECK(window.take() == numbered(1000));
  }
}

TEST_CASE("text: whole output is only made valid UTF-8") {
  CHECK(text_of("", 10, 0.5).empty());
  CHECK(text_of("h\xC3\xA9!\n", 10, 0.5) == "h\xC3\xA9!\n");
  CHECK(text_of("a\xFFz", 10, 0.5) == "a\xEF\xBF\xBDz");
}

TEST_CASE("text: a line at the gap tells how much is missing") {
  CHECK(text_of("aaaa\nbbbbbbbb\ncccc", 9, 0.56) == "aaaa\n[... 9 bytes left out ...]\ncccc");
  CHECK(text_of("0123456789", 4, 0.5) == "01\n[... 6 bytes left out ...]\n89");
  CHECK(text_of("0123456789", 4, 0) == "[... 6 bytes left out ...]\n6789");
  CHECK(text_of("0123456789", 4, 1) == "0123\n[... 6 bytes left out ...]\n");
  CHECK(text_of("0123456789", 0, 0.5) == "[... 10 bytes left out ...]\n");
}

TEST_CASE("text: characters that the gap cut are left out whole") {
  // Four times e-acute, two bytes each, cut after the third byte and before the last.
  CHECK(text_of("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 4, 0.75) == "\xC3\xA9\n[... 6 bytes left out ...]\n");
  CHECK(text_of("\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80", 6, 0.5) == "[... 12 bytes left out ...]\n");
}

TEST_CASE("exec_result: its text is that of the window") {
  exec_result result;
  result.std_out = "0189";
  result.out = stream_totals(10, 4, 2);
  CHECK(result.out_text() == "01\n[... 6 bytes left out ...]\n89");
  CHECK(result.err_text().empty());
}
