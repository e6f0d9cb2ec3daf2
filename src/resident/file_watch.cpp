/// What inotify says about a directory, or about all directories below one.
#include "resident/file_answer.hpp"
#include "resident/file_paths.hpp"
#include "resident/file_verbs.hpp"
#include "resident/file_walk.hpp"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/inotify.h>

namespace berth::resident {
namespace {

constexpr std::uint32_t directory_mask = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_MODIFY | IN_ATTRIB |
                                         IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

enum kind : std::uint8_t { created = 0, modified = 1, removed = 2, overflow = 3 };

kind kind_of(std::uint32_t mask) {
  if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) return created;
  if ((mask & (IN_DELETE | IN_MOVED_FROM)) != 0) return removed;
  return modified;
}

/// As the kernel calls a file of O_TMPFILE, which has no name yet and is written before it gets one.
bool is_nameless(std::string_view name) {
  return name.size() > 1 && name.front() == '#' && name.find_first_not_of("0123456789", 1) == name.npos;
}

class watching {
 public:
  watching(const char* path, bool recursive)
      : given_(path), recursive_(recursive), inotify_(check(inotify_init1(IN_CLOEXEC), file_reason::inotify)) {
    const located where = target_of(path);
    struct stat found {};
    check(fstatat(where.directory.get(), where.name.c_str(), &found, AT_SYMLINK_NOFOLLOW));
    const bool is_directory = S_ISDIR(found.st_mode);
    if (!is_directory) only_.assign(where.name.view());
    recursive_ = recursive_ && is_directory;
    file_fd top(openat(where.directory.get(), is_directory ? where.name.c_str() : ".",
                       O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    check(top.get());
    check(fstat(top.get(), &top_));
    watch_tree(static_cast<file_fd&&>(top), "", false);
  }

  void run() {
    answer_ready();
    while (!ended_) {
      pollfd both[2] = {{inotify_.get(), POLLIN, 0}, {0, POLLIN, 0}};
      if (poll(both, 2, -1) < 0) continue;
      // In this order: what happened before a question is told before its answer.
      const std::size_t asked = both[1].revents != 0 ? questions() : 0;
      while (!ended_ && poll(both, 1, 0) > 0) read_events();
      for (std::size_t i = 0; i < asked; ++i) wire::put_record_header(out_.raw(), wire::record_type::looked, 0);
      out_.flush();
    }
    refuse(file_reason::watch_ended, 0);
  }

 private:
  struct watched {
    int number;
    text path;  // with a slash at the end, or empty
  };

  /// How many bytes came in; their end ends the program.
  static std::size_t questions() {
    char bytes[64];
    const ssize_t got = read(0, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) _exit(0);
    return got > 0 ? static_cast<std::size_t>(got) : 0;
  }

  void tell(kind what, std::string_view path) {
    wire::put_record_header(out_.raw(), wire::record_type::event, 5 + path.size());
    wire::writer(out_.raw()).u8(what).bytes(path);
  }

  std::size_t find(int number) {
    std::size_t at = 0;
    while (at < all_.size() && all_[at].number != number) ++at;
    return at;
  }

  int watch(int directory, std::string_view path) {
    char through[40];
    snprintf(through, sizeof through, "/proc/self/fd/%d", directory);
    const int number = inotify_add_watch(inotify_.get(), through, directory_mask);
    if (number < 0 && errno == ENOSPC) refuse(file_reason::no_watches, 0);
    check(number, file_reason::inotify);
    const std::size_t known = find(number);
    if (known < all_.size())
      all_[known].path.assign(path);
    else
      all_.push({number, text(path)});
    return number;
  }

  /// Watches a directory, and those below it where that is asked for. Each is watched before it is read, so nothing is missed.
  void watch_tree(file_fd directory, std::string_view path, bool fresh) {
    const int number = watch(directory.get(), path);
    if (path.empty()) top_number_ = number;
    if (!recursive_) return;
    tree_walk walk(static_cast<file_fd&&>(directory));
    for (;;) {
      const auto what = walk.next();
      if (what == tree_walk::step::end) return;
      if (what == tree_walk::step::left) continue;
      text here(path);
      here.append(walk.path());
      if (fresh) tell(created, here.view());
      if (!S_ISDIR(walk.status().st_mode)) continue;
      const file_fd below(openat(walk.directory(), walk.name(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!below && (errno == ENOENT || errno == ENOTDIR || errno == EACCES)) continue;
      check(below.get());
      here.append("/");
      watch(below.get(), here.view());
      walk.enter();
    }
  }

  void read_events() {
    const ssize_t got = read(inotify_.get(), space_.data(), space_.size());
    if (got < 0 && errno == EINTR) return;
    check(got, file_reason::inotify);
    for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
      inotify_event happened{};
      std::memcpy(&happened, space_.data() + at, sizeof happened);
      const char* const name = space_.data() + at + sizeof happened;
      translate(happened, happened.len > 0 ? std::string_view(name) : std::string_view());
      at += sizeof happened + happened.len;
    }
  }

  void translate(const inotify_event& happened, std::string_view name) {
    if ((happened.mask & IN_Q_OVERFLOW) != 0) return tell(overflow, "");
    if ((happened.mask & (IN_IGNORED | IN_DELETE_SELF)) != 0) return forget(happened.wd);
    const std::size_t at = find(happened.wd);
    if (at == all_.size() || (!only_.empty() && name != only_.view())) return;
    if ((happened.mask & IN_MOVE_SELF) != 0 && happened.wd == top_number_) return forget(happened.wd);
    if (name.empty()) return;  // a watched directory itself: the one above tells
    text path(all_[at].path.view());
    path.append(name);
    const kind what = kind_of(happened.mask);
    if (what == modified && is_nameless(name) && !exists(path.c_str())) return;
    tell(what, path.view());
    if (!recursive_ || (happened.mask & IN_ISDIR) == 0) return;
    if (what == created) enter(path);
    if ((happened.mask & IN_MOVED_FROM) != 0) leave(path);
  }

  /// A watch that has ended.
  void forget(int number) {
    const std::size_t at = find(number);
    if (at == all_.size()) return;
    all_.drop(at);
    if (number != top_number_ || ended_) return;
    ended_ = true;
    tell(removed, only_.empty() ? "." : only_.view());
  }

  /// The watched directory, if it still has its path.
  file_fd open_top() const {
    file_fd top = open_at(AT_FDCWD, given_, O_PATH | O_DIRECTORY);
    struct stat found {};
    const bool same =
        top && fstat(top.get(), &found) == 0 && found.st_dev == top_.st_dev && found.st_ino == top_.st_ino;
    return same ? static_cast<file_fd&&>(top) : file_fd();
  }

  bool exists(const char* path) const {
    const file_fd top = open_top();
    struct stat found {};
    return top && fstatat(top.get(), path, &found, AT_SYMLINK_NOFOLLOW) == 0;
  }

  void enter(text& path) {
    const file_fd top = open_top();
    if (!top) return;
    const file_fd found = open_without_links(top.get(), path.c_str());
    if (!found) return;  // gone again
    file_fd directory(openat(found.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    path.append("/");
    if (directory) watch_tree(static_cast<file_fd&&>(directory), path.view(), true);
  }

  /// A directory that was moved away tells no more, nor do those below it.
  void leave(text& path) {
    path.append("/");
    for (std::size_t at = 0; at < all_.size();) {
      if (!all_[at].path.view().starts_with(path.view())) {
        ++at;
        continue;
      }
      inotify_rm_watch(inotify_.get(), all_[at].number);
      all_.drop(at);
    }
  }

  const char* given_;
  bool recursive_;
  text only_;  // the name of the one file that is watched
  file_fd inotify_;
  struct stat top_ {};  // not kept open: the end of an open directory is not told
  int top_number_ = -1;
  row<watched> all_;
  bool ended_ = false;
  output out_;
  block space_{64u << 10};
};

}  // namespace

void watch_path(const char* path, bool recursive) { watching(path, recursive).run(); }

}  // namespace berth::resident
