#include "isolation/denial_lines.hpp"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

constexpr std::uint64_t looked_at = 65536;
/// A path can be so long, and a message has more than a path.
constexpr std::size_t longest_line = 6144;
constexpr std::size_t most_lines = 24;

std::string_view end_of(std::string_view line) {
  return line.size() > longest_line ? line.substr(line.size() - longest_line) : line;
}

/// Without the sequences that colour text in a terminal.
std::string without_escapes(std::string_view line) {
  constexpr std::string_view begin = "\x1b[";
  std::string text;
  for (std::size_t at = 0; at < line.size();) {
    if (!line.substr(at).starts_with(begin)) {
      text += line[at++];
      continue;
    }
    at += begin.size();
    while (at < line.size() && (line[at] < '@' || line[at] > '~')) ++at;
    ++at;
  }
  return text;
}

}  // namespace

void denial_lines::add(std::string_view bytes) {
  for (auto end = bytes.find('\n'); end != bytes.npos; end = bytes.find('\n')) {
    added_ += end + 1;
    if (unfinished_.empty()) {
      look_at(end_of(bytes.substr(0, end)), added_);
    } else {
      unfinished_.append(end_of(bytes.substr(0, end)));
      look_at(end_of(unfinished_), added_);
      unfinished_.clear();
    }
    bytes.remove_prefix(end + 1);
  }
  added_ += bytes.size();
  unfinished_.append(end_of(bytes));
  if (unfinished_.size() > longest_line) unfinished_.erase(0, unfinished_.size() - longest_line);
}

void denial_lines::look_at(std::string_view line, std::uint64_t end) {
  std::string plain;
  if (line.find('\x1b') != line.npos) line = plain = without_escapes(line);
  const suspicion how = suspicion_of(line);
  if (how == suspicion::none) return;
  if (kept_.size() == most_lines) make_room();
  kept_.push_back({end, how, std::string(line)});
}

/// A strong one is not given up for weak ones: `find /` may be refused a thousand directories.
void denial_lines::make_room() {
  const auto is_weak = [](const kept_line& each) { return each.how == suspicion::weak; };
  const auto first = std::find_if(kept_.begin(), kept_.end(), is_weak);
  kept_.erase(first == kept_.end() ? kept_.begin() : first);
}

std::string denial_lines::take() {
  if (!unfinished_.empty()) look_at(std::exchange(unfinished_, {}), added_);
  std::string text;
  for (const kept_line& each : kept_) {
    if (added_ - each.end < looked_at) text += each.text + '\n';
  }
  kept_.clear();
  return text;
}

}  // namespace berth
