#include "cli/file_lines.hpp"

#include "core/json.hpp"
#include "core/shown_path.hpp"
#include "core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <utility>

namespace berth::cli {
namespace {

using whole_seconds = std::chrono::time_point<std::chrono::system_clock, std::chrono::seconds>;

std::string date_text(whole_seconds when) {
  const std::time_t seconds = when.time_since_epoch().count();
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string shown(std::string_view name, line_style style) {
  const bool escapes = style.for_terminal && !style.ends_with_nul && !is_showable(name);
  return escapes ? quoted_path(name) : std::string(name);
}

/// As text, and exactly where it is none.
void append_bytes(json_object& to, const std::string& name, const std::string& bytes) {
  to.append(name, bytes);
  if (!is_utf8(bytes)) to.append(name + "_base64", base64_encode(bytes));
}

std::string json_line(const file_info& entry, const std::string& path) {
  using namespace std::chrono;
  const auto second = floor<seconds>(entry.modified());
  const auto rest = duration_cast<nanoseconds>(entry.modified() - second).count();
  json_object line;
  append_bytes(line, "path", path);
  line.append("type", to_string(entry.type()));
  line.append("size", entry.size());
  line.append("mode", fmt::format("{:04o}", entry.mode()));
  line.append("modified", fmt::format("{}.{:09}Z", date_text(second), rest));
  if (entry.type() == file_type::symlink) append_bytes(line, "link_target", entry.link_target());
  return json(std::move(line)).dump();
}

std::string long_line(const file_info& entry, const std::string& path, int width, line_style style) {
  auto line = fmt::format("{} {:>{}} {} {}", mode_text(entry), entry.size(), width, time_text(entry.modified()),
                          shown(path, style));
  if (entry.type() == file_type::symlink) line += " -> " + shown(entry.link_target(), style);
  return line;
}

int width_of_sizes(const std::vector<file_info>& entries) {
  std::size_t width = 1;
  for (const auto& each : entries) width = std::max(width, fmt::formatted_size("{}", each.size()));
  return static_cast<int>(width);
}

}  // namespace

std::vector<std::string> file_lines(const std::vector<file_info>& entries, std::string_view prefix, line_style style) {
  const int width = width_of_sizes(entries);
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (const auto& each : entries) {
    const auto path = std::string(prefix) + each.path();
    if (style.json)
      lines.push_back(json_line(each, path));
    else if (style.long_form)
      lines.push_back(long_line(each, path, width, style));
    else
      lines.push_back(shown(path, style));
    lines.back() += style.ends_with_nul ? '\0' : '\n';
  }
  return lines;
}

std::string mode_text(const file_info& of) {
  constexpr std::string_view types = "-dl?", letters = "rwxrwxrwx";
  std::string text(1, types[static_cast<std::size_t>(of.type())]);
  for (std::size_t bit = 0; bit < letters.size(); ++bit) text += (of.mode() & (0400U >> bit)) != 0 ? letters[bit] : '-';
  constexpr std::pair<unsigned, char> specials[] = {{04000, 's'}, {02000, 's'}, {01000, 't'}};
  for (std::size_t i = 0; i < 3; ++i) {
    char& execute = text[3 * (i + 1)];
    const char letter = specials[i].second;
    if ((of.mode() & specials[i].first) != 0) execute = execute == 'x' ? letter : static_cast<char>(letter - 'a' + 'A');
  }
  return text;
}

std::string time_text(file_info::time_point when) {
  return date_text(std::chrono::floor<std::chrono::seconds>(when)) + "Z";
}

}  // namespace berth::cli
