#include "core/path_patterns.hpp"

#include "berth/error.hpp"

#include <cstddef>
#include <utility>

namespace berth {
namespace {

/// One unit of a pattern: a character, or a wildcard.
struct unit {
  enum class kind { literal, one, within, across, across_directories, set } what = kind::literal;
  std::string_view text;  ///< the literal, or the inside of the set
};

/// Where the set that begins at `at` ends, its bracket included; `at` if it has no end.
std::size_t set_end(std::string_view pattern, std::size_t at) {
  std::size_t end = at + 1;
  if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^')) ++end;
  if (end < pattern.size() && pattern[end] == ']') ++end;
  while (end < pattern.size() && pattern[end] != ']') ++end;
  return end < pattern.size() ? end + 1 : at;
}

unit take(std::string_view& pattern, bool at_start_of_component) {
  const auto cut = [&pattern](std::size_t size, unit::kind what, std::string_view text) {
    pattern.remove_prefix(size);
    return unit{what, text};
  };
  if (pattern.starts_with("**/") && at_start_of_component) return cut(3, unit::kind::across_directories, {});
  if (pattern.starts_with("**")) return cut(2, unit::kind::across, {});
  if (pattern[0] == '*') return cut(1, unit::kind::within, {});
  if (pattern[0] == '?') return cut(1, unit::kind::one, {});
  if (pattern[0] == '\\' && pattern.size() > 1) return cut(2, unit::kind::literal, pattern.substr(1, 1));
  if (pattern[0] == '[') {
    const auto end = set_end(pattern, 0);
    if (end > 0) return cut(end, unit::kind::set, pattern.substr(1, end - 2));
  }
  return cut(1, unit::kind::literal, pattern.substr(0, 1));
}

std::vector<unit> units_of(std::string_view pattern) {
  std::vector<unit> all;
  bool at_start = true;
  while (!pattern.empty()) {
    const unit next = take(pattern, at_start);
    at_start = next.what == unit::kind::across_directories || (next.what == unit::kind::literal && next.text[0] == '/');
    all.push_back(next);
  }
  return all;
}

bool in_set(std::string_view set, char character) {
  const bool negated = !set.empty() && (set[0] == '!' || set[0] == '^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  const auto byte = static_cast<unsigned char>(character);
  for (std::size_t at = 0; at < set.size(); ++at) {
    const auto low = static_cast<unsigned char>(set[at]);
    const bool range = at + 2 < set.size() && set[at + 1] == '-';
    const auto high = range ? static_cast<unsigned char>(set[at + 2]) : low;
    found = found || (low <= byte && byte <= high);
    if (range) at += 2;
  }
  return found != negated;
}

bool matches_one(const unit& one, char character) {
  switch (one.what) {
    case unit::kind::literal:
      return one.text[0] == character;
    case unit::kind::one:
      return character != '/';
    case unit::kind::set:
      return character != '/' && in_set(one.text, character);
    default:
      return false;
  }
}

/// May the wildcard swallow the character before it goes on?
bool swallows(const unit& one, char character) {
  return one.what == unit::kind::across || one.what == unit::kind::across_directories ||
         (one.what == unit::kind::within && character != '/');
}

bool is_wild(const unit& one) {
  return one.what == unit::kind::within || one.what == unit::kind::across || one.what == unit::kind::across_directories;
}

/// Marks what is reached without a character: a wildcard may match nothing.
void close_over(const std::vector<unit>& units, std::vector<char>& reached, bool at_start) {
  for (std::size_t i = 0; i < units.size(); ++i) {
    const bool passes = is_wild(units[i]) && (units[i].what != unit::kind::across_directories || at_start);
    if (reached[i] != 0 && passes) reached[i + 1] = 1;
  }
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text) {
  const auto units = units_of(pattern);
  std::vector<char> reached(units.size() + 1, 0), next(units.size() + 1, 0);
  reached[0] = 1;
  close_over(units, reached, true);
  for (const char character : text) {
    next.assign(next.size(), 0);
    for (std::size_t i = 0; i < units.size(); ++i) {
      if (reached[i] == 0) continue;
      if (swallows(units[i], character)) next[i] = 1;
      if (matches_one(units[i], character)) next[i + 1] = 1;
    }
    reached.swap(next);
    close_over(units, reached, character == '/');
  }
  return reached.back() != 0;
}

path_patterns::path_patterns(const std::vector<std::string>& patterns) {
  for (const auto& each : patterns) {
    pattern one{each, false, false};
    if (one.text.ends_with('/')) {
      one.directories_only = true;
      one.text.pop_back();
    }
    one.anchored = one.text.find('/') != one.text.npos;
    if (one.text.starts_with('/')) one.text.erase(0, 1);
    if (one.text.empty() || one.text.starts_with('!'))
      throw error(make_error_code(errc::invalid_argument), "exclude: '" + each + "' is no pattern");
    patterns_.push_back(std::move(one));
  }
}

bool path_patterns::match(std::string_view path, bool is_directory) const {
  const auto name = path.substr(path.rfind('/') + 1);
  for (const pattern& one : patterns_) {
    if (one.directories_only && !is_directory) continue;
    if (glob_match(one.text, one.anchored ? path : name)) return true;
  }
  return false;
}

}  // namespace berth
