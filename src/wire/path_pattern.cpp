#include "wire/path_pattern.hpp"

#include "wire/frame.hpp"

#include <cstring>

namespace berth::wire {
namespace {

/// One unit of a pattern: a character, or a wildcard.
struct unit {
  enum class kind { literal, one, within, across, across_directories, set } what = kind::literal;
  std::string_view text;  ///< the literal, or the inside of the set
  std::size_t size = 1;   ///< of what it is written as

  bool is_wild() const noexcept {
    return what == kind::within || what == kind::across || what == kind::across_directories;
  }
  /// What follows is at the start of a component, as far as the pattern says.
  bool ends_component() const noexcept {
    return what == kind::across_directories || (what == kind::literal && text[0] == '/');
  }
};

/// The size of the set that the pattern begins with, brackets included; 0 if it has no end.
std::size_t set_size(std::string_view pattern) noexcept {
  std::size_t end = 1;
  if (end < pattern.size() && (pattern[end] == '!' || pattern[end] == '^')) ++end;
  if (end < pattern.size() && pattern[end] == ']') ++end;
  while (end < pattern.size() && pattern[end] != ']') ++end;
  return end < pattern.size() ? end + 1 : 0;
}

unit first_of(std::string_view pattern, bool at_start_of_component) noexcept {
  if (pattern.starts_with("**/") && at_start_of_component) return {unit::kind::across_directories, {}, 3};
  if (pattern.starts_with("**")) return {unit::kind::across, {}, 2};
  if (pattern[0] == '*') return {unit::kind::within, {}, 1};
  if (pattern[0] == '?') return {unit::kind::one, {}, 1};
  if (pattern[0] == '\\' && pattern.size() > 1) return {unit::kind::literal, part(pattern, 1, 1), 2};
  const std::size_t set = pattern[0] == '[' ? set_size(pattern) : 0;
  if (set > 0) return {unit::kind::set, part(pattern, 1, set - 2), set};
  return {unit::kind::literal, part(pattern, 0, 1), 1};
}

bool in_set(std::string_view set, char character) noexcept {
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

bool matches_one(const unit& one, char character) noexcept {
  if (one.what == unit::kind::literal) return one.text[0] == character;
  if (character == '/') return false;
  return one.what == unit::kind::one || (one.what == unit::kind::set && in_set(one.text, character));
}

/// May the wildcard swallow the character before it goes on?
bool swallows(const unit& one, char character) noexcept {
  return one.is_wild() && (one.what != unit::kind::within || character != '/');
}

/// Calls for each unit with where it is written.
template <class Function>
void for_each_unit(std::string_view pattern, Function function) noexcept {
  bool at_start = true;
  for (std::size_t at = 0; at < pattern.size();) {
    const unit one = first_of(part(pattern, at), at_start);
    function(one, at);
    at_start = one.ends_component();
    at += one.size;
  }
}

/// Marks what is reached without a character: a wildcard may match nothing.
void close_over(std::string_view pattern, char* reached, bool at_start) noexcept {
  for_each_unit(pattern, [&](const unit& one, std::size_t at) {
    const bool passes = one.is_wild() && (one.what != unit::kind::across_directories || at_start);
    if (reached[at] != 0 && passes) reached[at + one.size] = 1;
  });
}

}  // namespace

bool glob_match(std::string_view pattern, std::string_view text, char* scratch) noexcept {
  char* reached = scratch;
  char* next = scratch + pattern.size() + 1;
  std::memset(reached, 0, pattern.size() + 1);
  reached[0] = 1;
  close_over(pattern, reached, true);
  for (const char character : text) {
    std::memset(next, 0, pattern.size() + 1);
    for_each_unit(pattern, [&](const unit& one, std::size_t at) {
      if (reached[at] == 0) return;
      if (swallows(one, character)) next[at] = 1;
      if (matches_one(one, character)) next[at + one.size] = 1;
    });
    char* const last = reached;
    reached = next;
    next = last;
    close_over(pattern, reached, character == '/');
  }
  return reached[pattern.size()] != 0;
}

bool path_pattern::set(std::string_view text) noexcept {
  directories_only_ = text.ends_with('/');
  if (directories_only_) text.remove_suffix(1);
  anchored_ = text.find('/') != text.npos;
  if (text.starts_with('/')) text.remove_prefix(1);
  text_ = text;
  return !text.empty() && text.front() != '!';
}

bool path_pattern::match(std::string_view path, bool is_directory, char* scratch) const noexcept {
  if (directories_only_ && !is_directory) return false;
  return glob_match(text_, anchored_ ? path : part(path, path.rfind('/') + 1), scratch);
}

}  // namespace berth::wire
