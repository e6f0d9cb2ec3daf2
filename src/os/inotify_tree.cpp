#include "os/inotify_tree.hpp"

#include "os/directory_walk.hpp"
#include "os/file_failure.hpp"
#include "os/open_beneath.hpp"

#include <fcntl.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace berth {
namespace {

constexpr std::uint32_t directory_mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_ATTRIB |
                                         IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;
constexpr std::size_t read_size = std::size_t{64} << 10;

watch_kind kind_of(std::uint32_t mask) {
  if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) return watch_kind::created;
  if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) return watch_kind::removed;
  return watch_kind::modified;
}

/// As the kernel calls a file of O_TMPFILE, which has no name yet and is written before it gets one.
bool is_nameless(std::string_view name) {
  constexpr std::string_view digits = "0123456789";
  return name.size() > 1 && name.front() == '#' && name.find_first_not_of(digits, 1) == name.npos;
}

}  // namespace

inotify_tree::inotify_tree(std::shared_ptr<const path_scope> scope, const std::string& path, bool recursive)
    : scope_(std::move(scope)),
      path_(path),
      recursive_(recursive),
      inotify_(check_file(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC), "inotify")) {
  located where = scope_->target_of(path);
  struct stat found {};
  check_file(::fstatat(where.directory.get(), where.name.c_str(), &found, AT_SYMLINK_NOFOLLOW));
  if (!S_ISDIR(found.st_mode)) {
    only_ = std::exchange(where.name, ".");
    recursive_ = false;
  }
  unique_fd top(
      check_file(::openat(where.directory.get(), where.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  check_file(::fstat(top.get(), &top_));
  std::vector<watch_event> none;
  watch_tree(std::move(top), "", contents::known, none);
}

int inotify_tree::watch(int directory, const std::string& path) {
  const std::string through = "/proc/self/fd/" + std::to_string(directory);
  const int number = ::inotify_add_watch(inotify_.get(), through.c_str(), directory_mask);
  if (number < 0 && errno == ENOSPC)
    throw error(make_error_code(errc::resource_exhausted), "no more watches (fs.inotify.max_user_watches)");
  check_file(number, "inotify");
  paths_[number] = path;
  numbers_[path] = number;
  return number;
}

/// Watches a directory, and those below it where that is asked for. Each is watched before it is read, so nothing is missed.
void inotify_tree::watch_tree(unique_fd directory, const std::string& path, contents what,
                              std::vector<watch_event>& events) {
  const int number = watch(directory.get(), path);
  if (path.empty()) top_number_ = number;
  if (!recursive_) return;
  directory_walk walk(std::move(directory));
  while (const walked_entry* const entry = walk.next()) {
    const std::string here = path + entry->path;
    if (what == contents::fresh) events.emplace_back(watch_kind::created, here);
    if (!S_ISDIR(entry->status.st_mode)) continue;
    const unique_fd below(
        ::openat(entry->directory, entry->name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!below && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) continue;
    check_file(below.get());
    watch(below.get(), here + "/");
    walk.enter();
  }
}

std::vector<watch_event> inotify_tree::read() {
  std::vector<watch_event> events;
  alignas(inotify_event) char buffer[read_size];
  const auto got = ::read(inotify_.get(), buffer, sizeof buffer);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return events;
  check_file(got, "inotify");
  for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
    inotify_event happened{};
    std::memcpy(&happened, buffer + at, sizeof happened);
    const char* const name = buffer + at + sizeof happened;
    translate(happened, happened.len > 0 ? std::string_view(name) : std::string_view(), events);
    at += sizeof happened + happened.len;
  }
  return events;
}

void inotify_tree::translate(const inotify_event& happened, std::string_view name, std::vector<watch_event>& events) {
  if ((happened.mask & IN_Q_OVERFLOW) != 0) {
    events.emplace_back(watch_kind::overflow, "");
    return;
  }
  if ((happened.mask & (IN_IGNORED | IN_DELETE_SELF)) != 0) return forget(happened.wd, events);
  const auto watched = paths_.find(happened.wd);
  if (watched == paths_.end() || (!only_.empty() && name != only_)) return;
  if ((happened.mask & IN_MOVE_SELF) != 0 && happened.wd == top_number_) return forget(happened.wd, events);
  if (name.empty()) return;  // a watched directory itself: the one above tells
  const std::string path = watched->second + std::string(name);
  const auto kind = kind_of(happened.mask);
  if (kind == watch_kind::modified && is_nameless(name) && !exists(path)) return;
  events.emplace_back(kind, path);
  if (!recursive_ || (happened.mask & IN_ISDIR) == 0) return;
  if (kind == watch_kind::created) enter(path, events);
  if ((happened.mask & IN_MOVED_FROM) != 0) leave(path + "/");
}

/// A watch that has ended.
void inotify_tree::forget(int number, std::vector<watch_event>& events) {
  const auto watched = paths_.find(number);
  if (watched == paths_.end()) return;
  const auto known = numbers_.find(watched->second);
  if (known != numbers_.end() && known->second == number) numbers_.erase(known);
  paths_.erase(watched);
  if (number != top_number_ || ended_) return;
  ended_ = true;
  events.emplace_back(watch_kind::removed, only_.empty() ? "." : only_);
}

/// The watched directory, if it still has its path.
unique_fd inotify_tree::open_top() const {
  unique_fd top;
  try {
    top = scope_->open(path_, O_PATH | O_DIRECTORY);
  } catch (const error&) {
    return top;
  }
  struct stat found {};
  const bool same = ::fstat(top.get(), &found) == 0 && found.st_dev == top_.st_dev && found.st_ino == top_.st_ino;
  return same ? std::move(top) : unique_fd();
}

bool inotify_tree::exists(const std::string& path) const {
  const unique_fd top = open_top();
  struct stat found {};
  return top && ::fstatat(top.get(), path.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
}

void inotify_tree::enter(const std::string& path, std::vector<watch_event>& events) {
  const unique_fd top = open_top();
  if (!top) return;
  const unique_fd found = open_directory_without_links(top.get(), path.c_str());
  if (!found) return;  // gone again
  unique_fd directory(::openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) watch_tree(std::move(directory), path + "/", contents::fresh, events);
}

/// A directory that was moved away tells no more, nor do those below it.
void inotify_tree::leave(const std::string& path) {
  for (auto at = numbers_.lower_bound(path); at != numbers_.end() && at->first.starts_with(path);) {
    ::inotify_rm_watch(inotify_.get(), at->second);
    paths_.erase(at->second);
    at = numbers_.erase(at);
  }
}

}  // namespace berth
