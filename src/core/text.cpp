#include "core/text.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace berth {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

enum class utf8_kind { whole, broken, unfinished };

struct utf8_unit {
  utf8_kind kind;
  std::size_t size;  // of the character, or of the maximal part that could have begun one
};

// What the second byte may be depends on the first (Unicode, table 3-7): that excludes overlong forms, surrogates and
// what lies above U+10FFFF.
struct utf8_lead {
  std::size_t size;
  unsigned char low;
  unsigned char high;
};

utf8_lead lead_of(unsigned char byte) noexcept {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

utf8_unit unit_at(std::string_view text, std::size_t at) noexcept {
  const auto lead = lead_of(static_cast<unsigned char>(text[at]));
  if (lead.size == 0) return {utf8_kind::broken, 1};
  for (std::size_t n = 1; n < lead.size; ++n) {
    if (at + n == text.size()) return {utf8_kind::unfinished, n};
    const auto byte = static_cast<unsigned char>(text[at + n]);
    const auto low = n == 1 ? lead.low : 0x80;
    const auto high = n == 1 ? lead.high : 0xBF;
    if (byte < low || byte > high) return {utf8_kind::broken, n};
  }
  return {utf8_kind::whole, lead.size};
}

/// The length of the run of ASCII from here on.
std::size_t ascii_run(std::string_view text, std::size_t at) noexcept {
  const auto begin = at;
  std::uint64_t word = 0;
  while (at + sizeof word <= text.size()) {
    std::memcpy(&word, text.data() + at, sizeof word);
    if ((word & 0x8080808080808080U) != 0) break;
    at += sizeof word;
  }
  while (at < text.size() && static_cast<unsigned char>(text[at]) < 0x80) ++at;
  return at - begin;
}

bool is_continuation(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

/// Where the unfinished character at the end begins; the size if there is none.
std::size_t unfinished_tail(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto at = text.size() - back;
    if (is_continuation(text[at])) continue;
    return unit_at(text, at).kind == utf8_kind::unfinished ? at : text.size();
  }
  return text.size();
}

/// Begin and size of the whole character around a position, if the position is inside one.
std::optional<std::pair<std::size_t, std::size_t>> character_around(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size() || !is_continuation(text[at])) return std::nullopt;
  for (std::size_t back = 1; back <= 3 && back <= at; ++back) {
    const auto begin = at - back;
    if (is_continuation(text[begin])) continue;
    const auto unit = unit_at(text, begin);
    if (unit.kind != utf8_kind::whole || begin + unit.size <= at) return std::nullopt;
    return std::pair(begin, unit.size);
  }
  return std::nullopt;
}

}  // namespace

std::size_t utf8_floor(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return text.size();
  const auto around = character_around(text, at);
  return around ? around->first : at;
}

std::size_t utf8_ceil(std::string_view text, std::size_t at) noexcept {
  if (at >= text.size()) return text.size();
  const auto around = character_around(text, at);
  return around ? around->first + around->second : at;
}

std::string to_text(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const auto plain = ascii_run(bytes, at);
    text.append(bytes, at, plain);
    at += plain;
    if (at == bytes.size()) break;
    const auto unit = unit_at(bytes, at);
    text += unit.kind == utf8_kind::whole ? bytes.substr(at, unit.size) : replacement;
    at += unit.size;
  }
  return text;
}

bool is_utf8(std::string_view bytes) noexcept {
  for (std::size_t at = 0; at < bytes.size();) {
    at += ascii_run(bytes, at);
    if (at == bytes.size()) break;
    const auto unit = unit_at(bytes, at);
    if (unit.kind != utf8_kind::whole) return false;
    at += unit.size;
  }
  return true;
}

std::string_view trimmed(std::string_view text, std::string_view blanks) noexcept {
  const auto begin = text.find_first_not_of(blanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

std::string utf8_stream::feed(std::string_view bytes) {
  std::string text = std::exchange(kept_, {});
  text += bytes;
  const auto end = unfinished_tail(text);
  kept_ = text.substr(end);
  text.resize(end);
  return text;
}

std::string utf8_stream::finish() { return std::exchange(kept_, {}); }

}  // namespace berth
