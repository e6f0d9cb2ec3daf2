#include "os/open_beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>

#include <cerrno>
#include <string>
#include <string_view>

namespace berth {
namespace {

unique_fd openat2(int directory, const char* path, int flags, unsigned resolve) {
  constexpr int most_tries = 8;  // EAGAIN: something was renamed during the walk
  struct open_how how {};
  how.flags = static_cast<unsigned>(flags) | O_CLOEXEC;
  how.resolve = resolve | RESOLVE_NO_MAGICLINKS;
  for (int tries = 0;; ++tries) {
    const auto fd = ::syscall(SYS_openat2, directory, path, &how, sizeof how);
    if (fd >= 0 || tries == most_tries || (errno != EAGAIN && errno != EINTR)) return unique_fd(static_cast<int>(fd));
  }
}

}  // namespace

unique_fd open_beneath(int directory, const char* path, int flags) {
  return openat2(directory, path, flags, RESOLVE_BENEATH);
}

unique_fd open_anywhere(const char* path, int flags) { return openat2(AT_FDCWD, path, flags, 0); }

unique_fd open_directory_without_links(int directory, const char* path) {
  constexpr int flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  unique_fd opened = openat2(directory, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
  if (opened || (errno != ENOSYS && errno != EPERM)) return opened;
  std::string_view rest = path;
  unique_fd at(::openat(directory, ".", flags));
  while (at && !rest.empty()) {
    const auto end = rest.find('/');
    const std::string name(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (name == "..") {
      errno = EXDEV;
      return unique_fd();
    }
    if (!name.empty()) at = unique_fd(::openat(at.get(), name.c_str(), flags));
  }
  return at;
}

}  // namespace berth
