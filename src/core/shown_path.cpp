#include "core/shown_path.hpp"

#include "core/text.hpp"

#include <cstddef>

namespace berth {
namespace {

constexpr std::size_t longest_shown = 400;

void append_escaped(std::string& text, unsigned char byte) {
  constexpr const char* digits = "0123456789abcdef";
  switch (byte) {
    case '\n':
      text += "\\n";
      break;
    case '\t':
      text += "\\t";
      break;
    case '\r':
      text += "\\r";
      break;
    default:
      text += "\\x";
      text += digits[byte >> 4U];
      text += digits[byte & 15U];
  }
}

bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  // U+0080 to U+009F, line and paragraph separators, and what turns the direction of text.
  if (first == 0xc2) return static_cast<unsigned char>(character[1]) < 0xa0;
  if (!character.starts_with("\xe2\x80") && !character.starts_with("\xe2\x81")) return false;
  const auto last = static_cast<unsigned char>(character[2]);
  return character[1] == '\x80' ? last >= 0xa8 && last <= 0xae : last >= 0xa6 && last <= 0xa9;
}

std::string escaped(std::string_view path) {
  std::string text;
  for (std::size_t at = 0; at < path.size();) {
    const auto size = utf8_ceil(path, at + 1) - at;
    const auto character = path.substr(at, size);
    if (character == "'" || character == "\\") {
      text += '\\';
      text += character;
    } else if (!is_utf8(character) || is_control(character)) {
      for (const char byte : character) append_escaped(text, static_cast<unsigned char>(byte));
    } else {
      text += character;
    }
    at += size;
  }
  return text;
}

}  // namespace

std::string quoted_path(std::string_view path) { return "'" + escaped(path) + "'"; }

bool is_showable(std::string_view path) {
  for (std::size_t at = 0; at < path.size();) {
    const auto size = utf8_ceil(path, at + 1) - at;
    const auto character = path.substr(at, size);
    if (!is_utf8(character) || is_control(character)) return false;
    at += size;
  }
  return true;
}

std::string shown_path(std::string_view path) {
  if (path.size() <= longest_shown) return quoted_path(path);
  const auto head = utf8_floor(path, longest_shown / 2);
  const auto tail = utf8_ceil(path, path.size() - longest_shown / 2);
  return "'" + escaped(path.substr(0, head)) + "[...]" + escaped(path.substr(tail)) + "'";
}

}  // namespace berth
