#pragma once
/// Questions about paths as text: absolute, without `.` and `..`.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Without `.`, `..` and a slash at the end, by its text alone.
std::string normal_path(const std::string& path);

/// Is the path the directory, or below it?
inline bool is_at_or_below(std::string_view path, std::string_view directory) noexcept {
  if (directory == "/") return path.starts_with('/');
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

/// The first of the directories that the path is or lies below; null if there is none.
inline const std::string* directory_of(std::string_view path, const std::vector<std::string>& directories) noexcept {
  const auto holds = [path](const std::string& each) { return is_at_or_below(path, each); };
  const auto found = std::find_if(directories.begin(), directories.end(), holds);
  return found == directories.end() ? nullptr : &*found;
}

}  // namespace berth
