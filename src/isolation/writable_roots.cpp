#include "berth/error.hpp"
#include "berth/isolation.hpp"
#include "core/logger.hpp"
#include "core/paths.hpp"
#include "core/shown_path.hpp"
#include "core/text.hpp"
#include "isolation/all_roots.hpp"
#include "isolation/followed_path.hpp"
#include "isolation/home.hpp"

#include <filesystem>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& message) { throw error(make_error_code(errc::invalid_argument), message); }

std::string parse_entry(std::string_view entry, const fs::path& cwd) {
  const auto bad = [entry](const char* why) { refuse("writable root " + shown_path(entry) + ": " + why); };
  if (entry.find('\0') != entry.npos) bad("a NUL in the path");
  if (entry.starts_with('$')) bad("variables are not replaced; write the path itself, or ~");
  if (!entry.starts_with('~')) return normal_path(cwd / fs::path(entry));
  if (entry.size() > 1 && entry[1] != '/') bad("only ~ and ~/ are understood, not the home of a named user");
  const std::string home = home_directory();
  if (home.empty()) bad("no home directory is known: HOME is not set");
  return normal_path(home + "/" + std::string(entry.substr(1)));
}

/// The real path of a root that is there.
std::string real_root(const fs::path& path) {
  std::error_code code;
  fs::path real = fs::canonical(path, code);
  if (code) throw error(code, "writable root " + shown_path(path.string()));
  return real.string();
}

/// What a sandbox covers: as a root it would lie over that again.
bool is_covered(const std::string& root) {
  const bool is_device = is_at_or_below(root, "/dev") && !root.starts_with("/dev/shm/");
  return is_at_or_below(root, "/proc") || is_at_or_below(root, "/sys") || is_device;
}

std::string working_root(const std::string& cwd) {
  std::error_code code;
  const fs::path real = fs::canonical(cwd, code);
  if (code == std::errc::no_such_file_or_directory) code = make_error_code(errc::not_found);
  if (!code && !fs::is_directory(real, code) && !code) code = make_error_code(errc::not_a_directory);
  if (code) throw error(code, "working directory " + shown_path(cwd));
  return real.string();
}

/// A command may have put a link into a root, by whose name the next handle would be given what it leads to. `names` as the caller has
/// them, the working directory first.
void refuse_links_in_roots(const std::vector<std::string>& names, std::vector<std::string> roots) {
  // `..` of a working directory that became a link is not what the caller meant.
  for (const std::string& each : names) {
    std::error_code code;
    const fs::path meant = fs::canonical(normal_path(fs::path(names.front()) / each), code);
    if (!code) roots.push_back(meant.string());
  }
  for (const std::string& each : names) {
    const auto way = follow_path(fs::path(names.front()) / each).value_or(followed_path());
    for (const std::string& link : way.links) {
      if (directory_of(link, roots) == nullptr) continue;
      refuse(shown_path(each) + " goes over the link " + shown_path(link) +
             ", which lies in a writable root, so a command may have made it (name what it leads to, or remove it)");
    }
  }
}

}  // namespace

std::vector<std::string> parse_allow_write_setting(std::string_view text, std::string_view cwd) {
  if (!cwd.starts_with('/')) refuse("working directory " + shown_path(cwd) + ": not an absolute path");
  std::vector<std::string> paths;
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find_first_of(",\n", at), text.size());
    const std::string_view entry = trimmed(text.substr(at, end - at), " \t\r");
    if (!entry.empty()) paths.push_back(parse_entry(entry, fs::path(cwd)));
    at = end + 1;
  }
  return paths;
}

std::vector<std::string> outermost(const std::vector<std::string>& roots) {
  std::vector<std::string> kept;
  for (const std::string& root : roots) {
    if (directory_of(root, kept) != nullptr) continue;
    const auto is_held = [&root](const std::string& each) { return is_at_or_below(each, root); };
    const auto first = std::find_if(kept.begin(), kept.end(), is_held);
    const auto place = first - kept.begin();
    std::erase_if(kept, is_held);
    kept.insert(kept.begin() + place, root);
  }
  return kept;
}

std::vector<std::string> resolve_all_roots(const std::string& cwd, const root_options& options) {
  const logger log(options.log);
  std::vector<std::string> roots(1, working_root(cwd));
  for (const std::string& each : options.extra) {
    if (each.empty() || each.find('\0') != each.npos) refuse("writable root " + shown_path(each) + ": not a path");
    const fs::path path = fs::path(roots.front()) / each;
    std::error_code code;
    if (fs::exists(path, code)) {
      roots.push_back(real_root(path));
    } else {
      const std::string why = code ? code.message() : "it is not there";
      log.warning("isolation: writable root " + shown_path(path.string()) + " is left out: " + why);
    }
  }
  for (const std::string& root : roots) {
    if (is_covered(root))
      refuse("writable root " + shown_path(root) + ": the kernel's own; a sandbox has its own, or none");
    if (!options.allow_wide && is_wide_root(root))
      refuse("writable root " + shown_path(root) +
             ": the home directory, or above it; this must be allowed explicitly");
  }
  std::vector<std::string> names(1, cwd);
  names.insert(names.end(), options.extra.begin(), options.extra.end());
  refuse_links_in_roots(names, roots);
  return roots;
}

std::vector<std::string> resolve_writable_roots(const std::string& cwd, const root_options& options) {
  return outermost(resolve_all_roots(cwd, options));
}

}  // namespace berth
