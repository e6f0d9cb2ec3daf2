#include "resident/file_paths.hpp"

#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

namespace berth::resident {
namespace {

constexpr int position_flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
constexpr int most_links = 40;  // as the kernel

int openat2(int base, const char* path, int flags, unsigned long long resolve) {
  constexpr int most_tries = 8;  // EAGAIN: something was renamed during the walk
  struct open_how how {};
  how.flags = static_cast<unsigned>(flags) | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    const long fd = syscall(SYS_openat2, base, path, &how, sizeof how);
    if (fd >= 0 || tries == most_tries || (errno != EAGAIN && errno != EINTR)) return static_cast<int>(fd);
  }
}

/// The kernel, or a filter, has no openat2. (EPERM: older filters.)
bool lacks_openat2() { return errno == ENOSYS || errno == EPERM; }

/// Links of /proc to open files lead where no path does.
void refuse_magic_link(int directory, std::string_view target) {
  struct statfs where {};
  if (fstatfs(directory, &where) != 0 || where.f_type != PROC_SUPER_MAGIC) return;
  if (target.front() == '/' || target.find(":[") != target.npos) refuse(file_reason::none, ELOOP);
}

/// Where the last component begins and ends; the same where there is none, or it is `.` or `..`.
void find_last(std::string_view path, std::size_t& begin, std::size_t& end) {
  end = path.find_last_not_of('/');
  end = end == path.npos ? 0 : end + 1;
  begin = end;
  while (begin > 0 && path[begin - 1] != '/') --begin;
  const std::string_view name = wire::part(path, begin, end - begin);
  if (name == "." || name == "..") begin = end;
}

bool has_directory(const char* path) {
  const file_fd found = open_at(AT_FDCWD, path, position_flags);
  if (!found && errno != ENOENT) refuse(file_reason::none, errno);
  return static_cast<bool>(found);
}

}  // namespace

file_fd open_at(int base, const char* path, int flags) {
  const int fd = openat2(base, path, flags, 0);
  if (fd >= 0 || !lacks_openat2()) return file_fd(fd);
  return file_fd(openat(base, path, flags | O_CLOEXEC));
}

file_fd open_path(const char* path, int flags) {
  file_fd fd = open_at(AT_FDCWD, path, flags);
  check(fd.get());
  return fd;
}

file_fd open_without_links(int directory, const char* path) {
  constexpr int flags = position_flags | O_NOFOLLOW;
  const int opened = openat2(directory, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  if (opened >= 0 || !lacks_openat2()) return file_fd(opened);
  text rest{std::string_view(path)};
  file_fd at(openat(directory, ".", flags));
  for (char* name = rest.data(); at && name != nullptr;) {
    char* const end = strchr(name, '/');
    if (end != nullptr) *end = '\0';
    if (strcmp(name, "..") == 0) {
      errno = EXDEV;
      return file_fd();
    }
    if (*name != '\0') at = file_fd(openat(at.get(), name, flags));
    name = end != nullptr ? end + 1 : nullptr;
  }
  return at;
}

located parent_of(int base, const char* path) {
  const std::string_view whole = path;
  std::size_t begin = 0, end = 0;
  find_last(whole, begin, end);
  const bool has_name = begin < end;
  const text directory(has_name ? wire::part(whole, 0, begin) : whole);
  located found{open_at(base, directory.empty() ? "." : directory.c_str(), position_flags),
                text(has_name ? wire::part(whole, begin, end - begin) : ".")};
  check(found.directory.get());
  return found;
}

located parent_of(const char* path) { return parent_of(AT_FDCWD, path); }

located target_of(const char* path) {
  located at = parent_of(path);
  struct stat found {};
  for (int links = 0;; ++links) {
    if (fstatat(at.directory.get(), at.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISLNK(found.st_mode))
      return at;
    if (links == most_links) refuse(file_reason::none, ELOOP);
    const text target = link_text(at.directory.get(), at.name.c_str());
    if (target.empty()) refuse(file_reason::none, ENOENT);
    refuse_magic_link(at.directory.get(), target.view());
    at = parent_of(at.directory.get(), target.c_str());
  }
}

void make_directories(const char* path) {
  constexpr mode_t all_bits = 0777;  // less the umask
  const std::string_view whole = path;
  std::size_t at = whole.size();
  while (at > 0 && !has_directory(text(wire::part(whole, 0, at)).c_str())) {
    const std::size_t slash = whole.rfind('/', at - 1);
    at = slash == whole.npos ? 0 : slash;
  }
  if (at == whole.size()) return;
  while (at < whole.size()) {
    const std::size_t slash = whole.find('/', at + 1);
    at = slash == whole.npos ? whole.size() : slash;
    const located where = parent_of(text(wire::part(whole, 0, at)).c_str());
    if (where.name.view() == ".") continue;
    if (mkdirat(where.directory.get(), where.name.c_str(), all_bits) != 0 && errno != EEXIST)
      refuse(file_reason::none, errno);
  }
  open_path(path, position_flags);
}

text link_text(int directory, const char* name) {
  text target;
  target.resize(PATH_MAX);
  const ssize_t size = readlinkat(directory, name, target.data(), PATH_MAX);
  target.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return target;
}

bool stat_of(const located& where, struct stat& found) {
  if (fstatat(where.directory.get(), where.name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) return true;
  if (errno != ENOENT) refuse(file_reason::none, errno);
  return false;
}

}  // namespace berth::resident
