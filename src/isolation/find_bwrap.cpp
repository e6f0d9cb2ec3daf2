#include "isolation/find_bwrap.hpp"

#include "berth/error.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> folders() {
  std::vector<std::string> all;
  const char* value = std::getenv("PATH");
  const std::string_view path = value != nullptr ? value : "";
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (path.substr(at, end - at).starts_with('/')) all.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  all.insert(all.end(), {"/usr/bin", "/usr/local/bin", "/bin"});
  return all;
}

/// Why this one is not run; empty: it may be. None where there is no such file.
std::optional<std::string> objection(const std::string& path) {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0 || !S_ISREG(about.st_mode)) return std::nullopt;
  if (about.st_uid != 0 && about.st_uid != ::geteuid())
    return "it belongs to user " + std::to_string(about.st_uid) + ", and not to root or this one";
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "others may write it";
  if (::access(path.c_str(), X_OK) != 0) return "it cannot be executed";
  return std::string();
}

/// May a command choose what is run? The folder, or a link on the way to the program, can lie below a root by another name.
bool is_led_by_commands(const std::string& folder, const std::vector<std::string>& roots) {
  constexpr int most_links = 40;
  fs::path at = fs::path(folder) / "bwrap";
  for (int links = 0; links < most_links; ++links) {
    std::error_code code;
    const fs::path above = fs::canonical(at.parent_path(), code);
    if (code) return true;
    at = above / at.filename();
    if (directory_of(at.string(), roots) != nullptr) return true;
    const fs::path target = fs::read_symlink(at, code);
    if (code) return false;
    at = above / target;
  }
  return true;
}

}  // namespace

std::string find_bwrap(std::vector<std::string> roots) {
  // Where all may be written no program is out of reach, that of this process neither.
  std::erase(roots, "/");
  std::string refused;
  for (const std::string& folder : folders()) {
    std::error_code code;
    const fs::path real = fs::canonical(folder + "/bwrap", code);
    if (code) continue;
    auto why = objection(real.string());
    if (!why) continue;
    if (directory_of(real.string(), roots) != nullptr || is_led_by_commands(folder, roots))
      why = "it lies below a writable root";
    if (why->empty()) return real.string();
    if (refused.empty()) refused = shown_path(real.string()) + " is not used: " + *why;
  }
  if (refused.empty()) refused = "bwrap is not installed";
  throw error(make_error_code(errc::not_found), refused + " (install bubblewrap)");
}

}  // namespace berth
