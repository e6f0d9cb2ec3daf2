#include "os/file_replacement.hpp"

#include "os/file_failure.hpp"
#include "os/file_reader.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>
#include <vector>

namespace berth {
namespace {

using namespace std::chrono_literals;

constexpr mode_t for_all = 0666, kept_bits = 01777;
constexpr std::size_t hashed_at_once = std::size_t{8} << 20, hash_piece = std::size_t{256} << 10;
constexpr auto longest_lock = 1000ms, between_tries = 2ms;

bool same_time(const timespec& left, const timespec& right) {
  return left.tv_sec == right.tv_sec && left.tv_nsec == right.tv_nsec;
}

bool same_file(const struct stat& left, const struct stat& right) {
  return left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

std::optional<struct stat> stat_of(const located& where) {
  struct stat found {};
  if (where.itself) {
    check_file(::fstat(where.itself.get(), &found));
    return found;
  }
  if (::fstatat(where.directory.get(), where.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) return found;
  if (errno == ENOENT) return std::nullopt;
  fail_with_errno("");
}

/// Access lists and what the user attached. What cannot be copied is not missed: not every file system has it.
void copy_attributes(int from, int to) {
  if (::flistxattr(from, nullptr, 0) <= 0) return;
  std::vector<char> names(std::size_t{64} << 10), value(std::size_t{64} << 10);
  const auto size = ::flistxattr(from, names.data(), names.size());
  for (ssize_t at = 0; at < size;) {
    const std::string name = names.data() + at;
    at += static_cast<ssize_t>(name.size()) + 1;
    if (!name.starts_with("user.") && name != "system.posix_acl_access") continue;
    const auto length = ::fgetxattr(from, name.c_str(), value.data(), value.size());
    if (length >= 0) ::fsetxattr(to, name.c_str(), value.data(), static_cast<std::size_t>(length), 0);
  }
}

/// Network file systems tell of a full disk when a descriptor is closed.
void flush(int fd) {
  unique_fd copy(check_file(::fcntl(fd, F_DUPFD_CLOEXEC, 0)));
  const int code = ::close(copy.release()) == 0 ? 0 : errno;
  if (code != 0 && code != EINTR) throw file_failure(code);
}

}  // namespace

file_replacement::file_replacement(scope_source scope, std::string path, write_options options, last_link at_end)
    : scope_(std::move(scope)), path_(std::move(path)), options_(std::move(options)), at_end_(at_end) {}

bool file_replacement::prepare() {
  if (!where_.directory) find();
  if (hashing_ && compare_some()) return false;
  if (where_.itself)
    in_place_.emplace(where_.itself.get());
  else  // nobody sees it before it has its name and its mode
    fresh_.emplace(where_.directory.get(), old_ ? S_IRUSR | S_IWUSR : for_all);
  return true;
}

void file_replacement::find() {
  if (path_.ends_with('/')) throw file_failure(EISDIR);
  const auto scope = scope_();
  if (options_.makes_parents()) scope->make_directories(path_.substr(0, std::max<std::size_t>(path_.rfind('/'), 1)));
  where_ = at_end_ == last_link::follow ? scope->to_write(path_) : scope->to_move(path_);
  if (where_.name == ".") throw file_failure(EISDIR);
  old_ = stat_of(where_);
  if (!old_) {
    if (options_.expected_hash()) throw error(make_error_code(errc::conflict), "it is not there any more");
    return;
  }
  if (S_ISDIR(old_->st_mode)) throw file_failure(EISDIR);
  if (S_ISLNK(old_->st_mode) && at_end_ == last_link::refuse) refuse_last_link();
  if (!S_ISREG(old_->st_mode)) throw error(make_error_code(errc::unsupported), "not a regular file");
  if (options_.expects_absent()) throw file_failure(EEXIST);
  look_at_old();
  if (!options_.expected_hash()) return;
  check_file(old_fd_.get(), "compare");
  check_file(::fstat(old_fd_.get(), &*old_));
  hashing_.emplace();
}

void file_replacement::look_at_old() {
  constexpr int flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  if (where_.itself) {
    old_fd_.reset(::open(("/proc/self/fd/" + std::to_string(where_.itself.get())).c_str(), flags));
    return;
  }
  // What we may not write we do not replace either, though the directory would allow it.
  const int directory = where_.directory.get();
  check_file(::faccessat(directory, where_.name.c_str(), W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW));
  old_fd_.reset(::openat(directory, where_.name.c_str(), flags | O_NOFOLLOW));
}

/// True while there is more to compare.
bool file_replacement::compare_some() {
  std::string piece(hash_piece, '\0');
  for (std::size_t done = 0; done < hashed_at_once;) {
    const auto got = ::pread(old_fd_.get(), piece.data(), piece.size(), static_cast<off_t>(hashed_));
    if (got < 0 && errno == EINTR) continue;
    if (check_file(got, "compare") == 0) {
      if (hashing_->finish() != *options_.expected_hash()) refuse_change();
      hashing_.reset();
      return false;
    }
    hashing_->update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
    hashed_ += static_cast<std::uint64_t>(got);
    done += static_cast<std::size_t>(got);
  }
  return true;
}

void file_replacement::refuse_change() const {
  throw error(make_error_code(errc::conflict), "its content is not the expected one");
}

void file_replacement::set_attributes() {
  const int fd = fresh_->fd();
  if (old_) {
    struct stat ours {};
    check_file(::fstat(fd, &ours));
    // Owner and group are kept where we may; the mode comes after, since a new owner clears bits of it.
    if (ours.st_uid != old_->st_uid || ours.st_gid != old_->st_gid) {
      if (::fchown(fd, old_->st_uid, old_->st_gid) != 0 && ::fchown(fd, static_cast<uid_t>(-1), old_->st_gid) != 0)
        errno = 0;
    }
    if (old_fd_) copy_attributes(old_fd_.get(), fd);
  }
  if (options_.mode() || old_) {
    const mode_t mode = options_.mode() ? static_cast<mode_t>(*options_.mode()) : old_->st_mode & kept_bits;
    check_file(::fchmod(fd, mode));
  }
}

void file_replacement::commit() {
  if (in_place_) {
    if (options_.expected_hash()) check_expected(old_fd_.get());
    in_place_->commit(options_.is_durable());
    if (options_.mode()) check_file(::fchmod(in_place_->fd(), static_cast<mode_t>(*options_.mode())));
    return;
  }
  set_attributes();
  if (options_.is_durable()) check_file(::fsync(fresh_->fd()));
  flush(fresh_->fd());
  if (old_) {
    commit_over_old();
  } else if (!fresh_->publish_new(where_.name)) {
    if (options_.expects_absent()) throw file_failure(EEXIST);
    fresh_->publish(where_.name);  // made meanwhile: we are the later one
  }
  if (!options_.is_durable()) return;
  const unique_fd directory(check_file(::openat(where_.directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)));
  check_file(::fsync(directory.get()));
}

void file_replacement::commit_over_old() {
  const unique_fd lock = lock_old();
  if (options_.expected_hash()) check_expected(lock.get());
  fresh_->publish(where_.name);
}

void file_replacement::check_expected(int locked) const {
  const auto now = stat_of(where_);
  if (!now || locked < 0) refuse_change();
  if (!is_unchanged(*now) && hash_of(locked) != *options_.expected_hash()) refuse_change();
}

bool file_replacement::is_unchanged(const struct stat& now) const {
  return same_file(now, *old_) && now.st_size == old_->st_size && same_time(now.st_mtim, old_->st_mtim) &&
         same_time(now.st_ctim, old_->st_ctim);
}

/// Of two writers that expect the same bytes one must find the other's: the last look and the rename happen under a lock on the
/// file that has the name at that moment. None where it cannot be had; only who expects something minds.
unique_fd file_replacement::lock_old() const {
  const auto until = std::chrono::steady_clock::now() + longest_lock;
  for (;;) {
    unique_fd fd(::openat(where_.directory.get(), where_.name.c_str(),
                          O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC));
    if (!fd) return fd;
    if (::flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
      struct stat locked {};
      const auto named = stat_of(where_);
      if (!named || (::fstat(fd.get(), &locked) == 0 && same_file(locked, *named))) return fd;
      continue;  // replaced while we waited
    }
    if (errno != EWOULDBLOCK) return fd;  // a file system without locks
    if (std::chrono::steady_clock::now() >= until) {
      if (options_.expected_hash())
        throw error(make_error_code(errc::conflict), "another program keeps the file locked");
      return unique_fd();
    }
    std::this_thread::sleep_for(between_tries);
  }
}

std::string file_replacement::hash_of(int fd) const {
  content_hasher hash;
  std::string piece(hash_piece, '\0');
  for (off_t at = 0;;) {
    const auto got = ::pread(fd, piece.data(), piece.size(), at);
    if (got < 0 && errno == EINTR) continue;
    if (check_file(got, "compare") == 0) return hash.finish();
    hash.update(std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
    at += got;
  }
}

}  // namespace berth
