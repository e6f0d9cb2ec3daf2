#include "os/path_walk.hpp"

#include "os/file_failure.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <iterator>
#include <utility>

namespace berth {
namespace {

constexpr int most_links = 40;  // as the kernel

std::string read_link(int fd) {
  std::string target(PATH_MAX, '\0');
  const auto size = check_file(::readlinkat(fd, "", target.data(), target.size()));
  target.resize(static_cast<std::size_t>(size));
  return target;
}

/// Links of /proc to open files lead where no path does. Those that are plain text (self, mounts) are fine.
void refuse_magic_link(int fd, const std::string& target) {
  struct statfs where {};
  if (::fstatfs(fd, &where) != 0 || where.f_type != PROC_SUPER_MAGIC) return;
  const bool plain = !target.starts_with('/') && target.find(":[") == target.npos;
  if (!plain) throw file_failure(ELOOP);
}

unique_fd duplicate(const unique_fd& fd) { return unique_fd(check_file(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0))); }

}  // namespace

path_walk::path_walk(const ruled_places& places, ending last) : places_(places), last_(last) {
  const auto* const place = places_.at("/");
  constexpr int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  stack_.push_back({"/", place != nullptr ? duplicate(place->fd) : unique_fd(check_file(::open("/", flags))), false});
}

path_walk::result path_walk::run(const std::string& path) {
  push(path);
  while (!pending_.empty()) {
    const std::string name = std::move(pending_.back());
    pending_.pop_back();
    if (name == "..") {
      if (stack_.size() > 1) stack_.pop_back();
    } else if (name != ".") {
      const bool last = pending_.empty();
      const bool only_named = last && !last_.follow && !last_.enter;
      if (only_named || step(name, last)) return end_at(name);
    }
  }
  return end_at(".");
}

void path_walk::push(std::string_view path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < path.size();) {
    const auto end = std::min(path.find('/', at), path.size());
    if (end > at) parts.emplace_back(path.substr(at, end - at));
    at = end + 1;
  }
  pending_.insert(pending_.end(), std::make_move_iterator(parts.rbegin()), std::make_move_iterator(parts.rend()));
}

/// Goes one component on; true if the walk ends before it.
bool path_walk::step(const std::string& name, bool last) {
  const std::string path = path_below(stack_.back().path, name);
  const ruled_places::place* const place = places_.at(path);
  unique_fd fd(place != nullptr ? duplicate(place->fd).release()
                                : ::openat(stack_.back().fd.get(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!fd && errno == ENOENT && last) return true;
  check_file(fd.get());
  struct stat found {};
  check_file(::fstat(fd.get(), &found));
  if (S_ISLNK(found.st_mode)) {
    if (last && !last_.follow) return true;
    follow(fd.get());
    return false;
  }
  if (last && !(last_.enter && S_ISDIR(found.st_mode))) return true;
  if (!S_ISDIR(found.st_mode)) throw file_failure(ENOTDIR);
  const bool is_protected = stack_.back().is_protected || places_.is_protected(found);
  stack_.push_back({path, std::move(fd), is_protected});
  return false;
}

void path_walk::follow(int link) {
  if (++links_ > most_links) throw file_failure(ELOOP);
  const std::string target = read_link(link);
  refuse_magic_link(link, target);
  if (target.empty()) throw file_failure(ENOENT);
  if (target.front() == '/') stack_.resize(1);
  push(target);
}

path_walk::result path_walk::end_at(const std::string& name) {
  position& last = stack_.back();
  result end;
  end.path = name == "." ? last.path : path_below(last.path, name);
  struct stat found {};
  end.is_protected = last.is_protected || (::fstatat(last.fd.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
                                           places_.is_protected(found));
  const auto* const place = name == "." ? nullptr : places_.at(end.path);
  if (place != nullptr && !place->is_directory) end.where.itself = duplicate(place->fd);
  end.where.directory = std::move(last.fd);
  end.where.name = name;
  return end;
}

}  // namespace berth
