#include "isolation/find_bwrap.hpp"

#include "berth/error.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "isolation/followed_path.hpp"

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

/// In the order in which they are looked at.
std::vector<std::string> programs(const std::vector<std::string>& of_system) {
  std::vector<std::string> all;
  const char* value = std::getenv("PATH");
  const std::string_view path = value != nullptr ? value : "";
  for (std::size_t at = 0; at <= path.size();) {
    const auto end = std::min(path.find(':', at), path.size());
    if (path.substr(at, end - at).starts_with('/')) all.push_back(std::string(path.substr(at, end - at)) + "/bwrap");
    at = end + 1;
  }
  for (const std::string& folder : of_system) all.push_back(folder + "/bwrap");
  return all;
}

/// Out of reach of every command: only root may write it and what holds it. Commands of root may do that too, but for where the
/// system has its programs, which nobody makes a writable root.
bool is_of_system(const fs::path& program, const std::vector<std::string>& folders) {
  for (fs::path at = program;; at = at.parent_path()) {
    struct stat about {};
    if (::stat(at.c_str(), &about) != 0 || about.st_uid != 0 || (about.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return false;
    if (!at.has_relative_path()) break;
  }
  const std::string folder = program.parent_path().string();
  return ::geteuid() != 0 || std::find(folders.begin(), folders.end(), folder) != folders.end();
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

/// May a command choose what is run? A link on the way to the program can lie below a root.
bool is_led_by_commands(const std::string& program, const std::vector<std::string>& roots) {
  const auto way = follow_path(program);
  if (!way || directory_of(way->end, roots) != nullptr) return true;
  return std::any_of(way->links.begin(), way->links.end(),
                     [&roots](const std::string& each) { return directory_of(each, roots) != nullptr; });
}

struct candidate {
  std::string real;
  std::string objection;
};

/// None where there is no such file.
std::optional<candidate> look_at(const std::string& program, const std::vector<std::string>& roots) {
  std::error_code code;
  const std::string real = fs::canonical(program, code).string();
  auto why = code ? std::nullopt : objection(real);
  if (!why) return std::nullopt;
  if (is_led_by_commands(program, roots)) why = "it lies below a writable root";
  return candidate{real, *why};
}

std::string refusal_of(const candidate& one) { return shown_path(one.real) + " is not used: " + one.objection; }

[[noreturn]] void fail(const std::string& why) {
  throw error(make_error_code(errc::not_found), why + " (install bubblewrap)");
}

}  // namespace

std::vector<std::string> system_folders() { return {"/usr/bin", "/usr/local/bin", "/bin"}; }

std::string find_bwrap(std::vector<std::string> roots, const std::vector<std::string>& of_system) {
  // Where all may be written no program is out of reach, that of this process neither.
  std::erase(roots, "/");
  if (const char* const named = std::getenv("BERTH_BWRAP"); named != nullptr && *named != '\0') {
    const auto one = look_at(named, roots);
    if (!one) fail("BERTH_BWRAP names no program: " + shown_path(named));
    if (!one->objection.empty()) fail(refusal_of(*one));
    return one->real;
  }
  std::string refused, second;
  for (const std::string& program : programs(of_system)) {
    const auto one = look_at(program, roots);
    if (!one) continue;
    if (one->objection.empty() && is_of_system(one->real, of_system)) return one->real;
    if (one->objection.empty() && second.empty()) second = one->real;
    if (!one->objection.empty() && refused.empty()) refused = refusal_of(*one);
  }
  if (!second.empty()) return second;
  fail(refused.empty() ? "bwrap is not installed" : refused);
}

}  // namespace berth
