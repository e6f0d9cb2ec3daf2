#include "docker/engine_paths.hpp"

#include "core/paths.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>

namespace berth {
namespace {

bool has(std::string_view text, std::string_view part) noexcept { return text.find(part) != text.npos; }

}  // namespace

std::string parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  return slash == 0 || slash == path.npos ? "/" : path.substr(0, slash);
}

std::string name_of(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

std::string plain_path(const std::string& path) {
  std::string made;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    const std::string part = path.substr(at, end - at);
    if (!part.empty() && part != ".") made += "/" + part;
    at = end + 1;
  }
  return made.empty() ? "/" : made;
}

bool is_out_of_reach(const engine_files_place& place, const std::string& path) {
  // The daemon resolves `..` by links too; without any the path means this.
  const std::string meant = plain_path(std::filesystem::path(path).lexically_normal().string());
  const auto holds = [&](const std::string& directory) {
    return is_at_or_below(path, directory) || is_at_or_below(meant, directory);
  };
  for (const char* each : {"/proc", "/sys", "/dev"}) {
    if (holds(each)) return true;
  }
  return std::any_of(place.memory_directories.begin(), place.memory_directories.end(),
                     [&holds](const std::string& each) { return holds(plain_path(each)); });
}

error file_refusal(const error& failure) {
  const std::string& text = failure.remote();
  const auto as = [&](errc code, const char* words) { return error(make_error_code(code), words, text); };
  if (has(text, "cannot overwrite directory")) return as(errc::is_a_directory, "Is a directory");
  if (has(text, "not a directory") || has(text, "cannot overwrite non-directory"))
    return as(errc::not_a_directory, "Not a directory");
  if (has(text, "read-only") || has(text, "Read-only")) return as(errc::permission_denied, "Read-only file system");
  if (has(text, "ermission denied") || has(text, "not permitted"))
    return as(errc::permission_denied, "Permission denied");
  if (has(text, "o space left")) return as(errc::resource_exhausted, "No space left on device");
  if (has(text, "ot empty")) return as(errc::conflict, "Directory not empty");
  if (has(text, "ile name too long")) return as(errc::invalid_argument, "File name too long");
  if (has(text, "too many links") || has(text, "oo many levels of symbolic links"))
    return as(errc::invalid_argument, "Too many levels of symbolic links");
  if (has(text, "o such file") || has(text, "ould not find the file"))
    return as(errc::not_found, "No such file or directory");
  return failure;
}

}  // namespace berth
