/// Replacing a file in one step.
#include "resident/file_answer.hpp"
#include "resident/file_content.hpp"
#include "resident/file_verbs.hpp"
#include "resident/fresh_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <time.h>

namespace berth::resident {
namespace {

constexpr mode_t for_all = 0666, kept_bits = 01777;
constexpr int most_lock_tries = 500;  // 2 ms between: a second

bool same_time(const timespec& left, const timespec& right) {
  return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

bool same_file(const struct stat& left, const struct stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

/// Access lists and what the user attached. What cannot be copied is not missed: not every file system has it.
void copy_attributes(int from, int to) {
  if (flistxattr(from, nullptr, 0) <= 0) return;
  const block names(64u << 10), value(64u << 10);
  const ssize_t size = flistxattr(from, names.data(), names.size());
  for (ssize_t at = 0; at < size;) {
    const char* const name = names.data() + at;
    at += static_cast<ssize_t>(strlen(name)) + 1;
    if (strncmp(name, "user.", 5) != 0 && strcmp(name, "system.posix_acl_access") != 0) continue;
    const ssize_t length = fgetxattr(from, name, value.data(), value.size());
    if (length >= 0) fsetxattr(to, name, value.data(), static_cast<std::size_t>(length), 0);
  }
}

class replacement {
 public:
  replacement(const char* path, std::uint32_t flags, int mode, const char* hash)
      : flags_(flags), hash_(hash), mode_(mode), where_(locate(path, flags)) {}

  void run() {
    look_at_old();
    // Nobody sees it before it has its name and its mode.
    fresh_file fresh(where_.directory.get(), has_old_ ? S_IRUSR | S_IWUSR : for_all);
    input from;
    for (std::string_view piece = from.next(); !piece.empty(); piece = from.next()) fresh.write(piece);
    commit(fresh);
  }

 private:
  static located locate(const char* path, std::uint32_t flags) {
    const std::string_view whole = path;
    if (whole.ends_with('/')) refuse(file_reason::none, EISDIR);
    const std::size_t slash = whole.rfind('/');
    if ((flags & wire::write_parents) != 0 && slash != whole.npos)
      make_directories(text(wire::part(whole, 0, slash > 0 ? slash : 1)).c_str());
    return target_of(path);
  }

  void look_at_old() {
    if (where_.name.view() == ".") refuse(file_reason::none, EISDIR);
    has_old_ = stat_of(where_, old_);
    if (!has_old_) {
      if (hash_ != nullptr) refuse(file_reason::gone, 0);
      return;
    }
    if (S_ISDIR(old_.st_mode)) refuse(file_reason::none, EISDIR);
    if (!S_ISREG(old_.st_mode)) refuse(file_reason::not_regular, 0);
    if ((flags_ & wire::write_absent) != 0) refuse(file_reason::none, EEXIST);
    // What we may not write we do not replace either, though the directory would allow it.
    check(faccessat(where_.directory.get(), where_.name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW));
    old_fd_ = open_old();
    if (hash_ == nullptr) return;
    check(old_fd_.get(), file_reason::compare);
    check(fstat(old_fd_.get(), &old_));
    if (hash_of(old_fd_.get()).view() != hash_) refuse(file_reason::changed, 0);
  }

  file_fd open_old() const {
    return file_fd(
        openat(where_.directory.get(), where_.name.c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
  }

  void set_attributes(int fd) const {
    if (has_old_) {
      struct stat ours {};
      check(fstat(fd, &ours));
      // Owner and group are kept where we may; the mode comes after, since a new owner clears bits of it.
      if ((ours.st_uid != old_.st_uid || ours.st_gid != old_.st_gid) && fchown(fd, old_.st_uid, old_.st_gid) != 0 &&
          fchown(fd, static_cast<uid_t>(-1), old_.st_gid) != 0)
        errno = 0;
      if (old_fd_) copy_attributes(old_fd_.get(), fd);
    }
    if (mode_ >= 0 || has_old_) check(fchmod(fd, mode_ >= 0 ? static_cast<mode_t>(mode_) : old_.st_mode & kept_bits));
  }

  void commit(fresh_file& fresh) {
    set_attributes(fresh.fd());
    if ((flags_ & wire::write_durable) != 0) check(fsync(fresh.fd()));
    flush(fresh.fd());
    if (has_old_) {
      commit_over_old(fresh);
    } else if (!fresh.publish_new(where_.name.c_str())) {
      if ((flags_ & wire::write_absent) != 0) refuse(file_reason::none, EEXIST);
      fresh.publish(where_.name.c_str());  // made meanwhile: we are the later one
    }
    if ((flags_ & wire::write_durable) == 0) return;
    const file_fd directory(openat(where_.directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    check(directory.get());
    check(fsync(directory.get()));
  }

  /// Network file systems tell of a full disk when a descriptor is closed.
  static void flush(int fd) {
    const int copy = check(fcntl(fd, F_DUPFD_CLOEXEC, 0));
    if (close(copy) != 0 && errno != EINTR) refuse(file_reason::none, errno);
  }

  void commit_over_old(fresh_file& fresh) {
    const file_fd lock = lock_old();
    if (hash_ != nullptr) {
      struct stat now {};
      if (!stat_of(where_, now) || !lock) refuse(file_reason::changed, 0);
      if (!is_unchanged(now) && hash_of(lock.get()).view() != hash_) refuse(file_reason::changed, 0);
    }
    fresh.publish(where_.name.c_str());
  }

  bool is_unchanged(const struct stat& now) const {
    return same_file(now, old_) && now.st_size == old_.st_size && same_time(now.st_mtim, old_.st_mtim) &&
           same_time(now.st_ctim, old_.st_ctim);
  }

  /// Of two writers that expect the same bytes one must find the other's: the last look and the rename happen under a lock on the
  /// file that has the name at that moment. None where it cannot be had; only who expects something minds.
  file_fd lock_old() const {
    for (int tries = 0;;) {
      file_fd fd = open_old();
      if (!fd) return fd;
      if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
        struct stat locked {
        }, named{};
        if (!stat_of(where_, named) || (fstat(fd.get(), &locked) == 0 && same_file(locked, named))) return fd;
        continue;  // replaced while we waited
      }
      if (errno != EWOULDBLOCK) return fd;  // a file system without locks
      if (++tries > most_lock_tries) {
        if (hash_ != nullptr) refuse(file_reason::locked, 0);
        return file_fd();
      }
      const timespec pause{0, 2'000'000};
      nanosleep(&pause, nullptr);
    }
  }

  std::uint32_t flags_;
  const char* hash_;
  int mode_;
  located where_;
  bool has_old_ = false;
  struct stat old_ {};  // what is replaced
  file_fd old_fd_;
};

}  // namespace

void write_file(const char* path, std::uint32_t flags, int mode, const char* hash) {
  replacement(path, flags, mode, hash).run();
  answer_done();
}

}  // namespace berth::resident
