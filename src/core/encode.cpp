#include "core/text.hpp"

#include "berth/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

namespace berth {
namespace {

// As the first word of a command these would be syntax.
constexpr std::array<std::string_view, 19> reserved{
    "case", "coproc", "do",   "done", "elif",   "else",  "esac",  "fi",     "for",     "function",
    "if",   "in",     "then", "time", "select", "until", "while", "repeat", "foreach",
};

bool is_plain(char c) noexcept {
  const bool alphanumeric = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  return alphanumeric || std::string_view("_-./:,@%+").find(c) != std::string_view::npos;
}

bool needs_no_quotes(std::string_view word) noexcept {
  if (word.empty() || !std::all_of(word.begin(), word.end(), is_plain)) return false;
  return std::find(reserved.begin(), reserved.end(), word) == reserved.end();
}

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> make_digits() {
  std::array<std::uint8_t, 256> digits{};
  digits.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    digits[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return digits;
}

constexpr auto digits = make_digits();

[[noreturn]] void refuse_base64(const char* why) { throw error(errc::protocol, std::string("base64: ") + why); }

/// Up to four digits into up to three bytes.
void decode_group(std::string_view group, std::string& bytes) {
  std::uint32_t bits = 0;
  for (const char c : group) {
    const auto digit = digits[static_cast<unsigned char>(c)];
    if (digit == no_digit) refuse_base64("character outside the alphabet");
    bits = bits << 6 | digit;
  }
  bits <<= 6 * (4 - group.size());
  const auto count = group.size() - 1;
  for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(bits >> (16 - 8 * i) & 0xFFU);
  if ((bits & (0xFFFFFFU >> (8 * count))) != 0) refuse_base64("unused bits are set");
}

struct unit {
  std::string_view name;
  std::int64_t milliseconds;
};

constexpr std::array<unit, 5> units{{{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}}};
constexpr std::int64_t longest = std::numeric_limits<std::int64_t>::max() / 1'000'000;

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

/// Takes a number with a unit off the front; `next_unit` is the first unit that may still come.
std::optional<std::int64_t> take_part(std::string_view& text, std::size_t& next_unit) noexcept {
  std::int64_t number = 0;
  std::int64_t scale = 0;  // 10 to the number of digits behind the point, once there was one
  bool any = false;
  for (; !text.empty() && (is_digit(text[0]) || text[0] == '.'); text.remove_prefix(1)) {
    if (text[0] == '.') {
      if (scale != 0 || !any) return std::nullopt;
      scale = 1;
      any = false;
      continue;
    }
    any = true;
    if (number > longest / 10) return std::nullopt;
    number = number * 10 + (text[0] - '0');
    scale *= 10;
  }
  const auto name = text.substr(0, std::min(text.find_first_of("0123456789."), text.size()));
  text.remove_prefix(name.size());
  while (next_unit < units.size() && units[next_unit].name != name) ++next_unit;
  if (!any || next_unit == units.size()) return std::nullopt;
  std::int64_t value = 0;
  if (__builtin_mul_overflow(number, units[next_unit++].milliseconds, &value)) return std::nullopt;
  if (scale == 0) return value;
  return value % scale == 0 ? std::optional(value / scale) : std::nullopt;
}

}  // namespace

std::string shell_quote(std::string_view word) {
  if (needs_no_quotes(word)) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\0') throw error(errc::invalid_argument, "a shell word cannot hold a NUL");
    if (c == '\'')
      quoted += "'\\''";
    else
      quoted += c;
  }
  quoted += '\'';
  return quoted;
}

std::string shell_join(std::span<const std::string> words) {
  std::string line;
  for (const auto& word : words) {
    if (!line.empty()) line += ' ';
    line += shell_quote(word);
  }
  return line;
}

std::string base64_encode(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const auto count = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) bits = bits << 8 | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < 4; ++i) text += i <= count ? alphabet[bits >> (18 - 6 * i) & 63U] : '=';
  }
  return text;
}

std::string base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) refuse_base64("length is not a multiple of four");
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3);
  const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  text.remove_suffix(padding);
  for (std::size_t at = 0; at < text.size(); at += 4) decode_group(text.substr(at, 4), bytes);
  return bytes;
}

std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept {
  if (text.empty()) return std::nullopt;
  std::int64_t total = 0;
  std::size_t next_unit = 0;
  while (!text.empty()) {
    const auto part = take_part(text, next_unit);
    if (!part || *part > longest - total) return std::nullopt;
    total += *part;
  }
  return std::chrono::milliseconds(total);
}

}  // namespace berth
