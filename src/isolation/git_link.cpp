#include "isolation/git_link.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "isolation/reach.hpp"
#include "isolation/real_path.hpp"
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

bool is_regular(const std::string& path, int flags, struct stat& found) {
  if (::fstatat(AT_FDCWD, path.c_str(), &found, flags) == 0) return S_ISREG(found.st_mode);
  const int code = errno;
  if (!means_missing(code) && !is_barred(path)) fail_to_look(path, code);
  return false;
}

/// The first line of a small regular file; empty where there is none. A command may be at work there: it must not hold us up by a
/// fifo in its place, nor by a lease, and what is under a lease, or is ours and closed to us, does not count as a file that says
/// nothing.
std::string first_line(const fs::path& path) {
  struct stat found {};
  if (!is_regular(path.string(), 0, found)) return {};
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  const int code = fd ? 0 : errno;
  if (code == EWOULDBLOCK) throw error(make_error_code(errc::conflict), shown_path(path.string()) + ": under a lease");
  const bool is_of_others = code == EACCES && found.st_uid != ::geteuid();
  if (!fd && !means_missing(code) && !is_of_others) fail_to_look(path.string(), code);
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
  return real_path_if_there((directory / name).string()).value_or("");
}

}  // namespace

std::optional<git_link> read_git_link(const std::string& dot_git) {
  constexpr std::string_view prefix = "gitdir: ";
  struct stat found {};
  if (!is_regular(dot_git, AT_SYMLINK_NOFOLLOW, found)) return std::nullopt;
  const std::string line = first_line(dot_git);
  if (!line.starts_with(prefix)) return std::nullopt;
  std::error_code code;
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
