#include "isolation/git_link.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "os/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_line = 8192;

/// The first line of a small regular file; empty where there is none. A command may be at work there: it must not hold us up by a
/// fifo in its place, nor by a lease, and what is under a lease is not taken for a file that says nothing.
std::string first_line(const fs::path& path) {
  std::error_code code;
  if (!fs::is_regular_file(path, code)) return {};
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!fd && errno == EWOULDBLOCK)
    throw error(make_error_code(errc::conflict), shown_path(path.string()) + ": under a lease");
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  std::string line(longest_line, '\0');
  const ssize_t size = ::pread(fd.get(), line.data(), line.size(), 0);
  line.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  line.resize(std::min(line.size(), line.find_first_of(std::string_view("\n\0", 2))));
  return line;
}

/// The real path of what is named relative to a directory; empty where there is nothing.
std::string real(const fs::path& directory, const std::string& name) {
  if (name.empty()) return {};
  std::error_code code;
  const fs::path found = fs::canonical(directory / name, code);
  return code ? std::string() : found.string();
}

}  // namespace

std::optional<git_link> read_git_link(const std::string& dot_git) {
  constexpr std::string_view prefix = "gitdir: ";
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(dot_git, code))) return std::nullopt;
  const std::string line = first_line(dot_git);
  if (!line.starts_with(prefix)) return std::nullopt;
  git_link link;
  link.own = real(fs::path(dot_git).parent_path(), line.substr(prefix.size()));
  if (link.own.empty() || !fs::is_directory(link.own, code)) return std::nullopt;
  link.repository = real(link.own, first_line(fs::path(link.own) / "commondir"));
  if (link.repository.empty()) link.repository = link.own;  // a submodule, or --separate-git-dir
  const fs::path holder = fs::path(link.own).parent_path();
  // By its text: what it leads to a command could have arranged by links, and an old worktree's place by making it anew.
  const std::string back = (fs::path(link.own) / first_line(fs::path(link.own) / "gitdir")).lexically_normal().string();
  link.is_mutual = holder.filename() == "worktrees" && holder.parent_path() == link.repository &&
                   fs::exists(fs::path(link.repository) / "HEAD", code) &&
                   fs::is_directory(fs::path(link.repository) / "objects", code) && back == dot_git;
  return link;
}

}  // namespace berth
