#include "os/fresh_file.hpp"

#include "os/file_failure.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
#include <utility>

namespace berth {
namespace {

constexpr int most_names = 100;

/// Does this say that the file system has no files without names?
bool lacks_nameless(int code) { return code == EOPNOTSUPP || code == EISDIR || code == EINVAL || code == ENOENT; }

int rename_new(int directory, const char* from, const char* to) {
  return static_cast<int>(::syscall(SYS_renameat2, directory, from, directory, to, RENAME_NOREPLACE));
}

}  // namespace

std::string temporary_name() {
  std::uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number) number = std::random_device()();
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return std::string(temporary_prefix) + digits;
}

fresh_file::fresh_file(int directory, mode_t mode, kind wanted) : directory_(directory) {
  if (wanted == kind::nameless) {
    fd_.reset(::openat(directory, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
    if (fd_) return;
    if (!lacks_nameless(errno)) fail_with_errno("make a file in its directory");
  }
  for (int tries = 0; !fd_; ++tries) {
    const auto name = temporary_name();
    fd_.reset(::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
    if (fd_)
      temporary_ = name;
    else if (errno != EEXIST || tries == most_names)
      fail_with_errno("make a file in its directory");
  }
}

fresh_file::~fresh_file() {
  if (!temporary_.empty()) ::unlinkat(directory_, temporary_.c_str(), 0);
}

void fresh_file::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(fd_.get(), bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    bytes.remove_prefix(static_cast<std::size_t>(check_file(wrote)));
  }
}

/// False if something has the name.
bool fresh_file::link_to(const std::string& name) {
  if (::linkat(fd_.get(), "", directory_, name.c_str(), AT_EMPTY_PATH) == 0) return true;
  if (errno == EEXIST) return false;
  // Older kernels want a privilege for that.
  const std::string path = "/proc/self/fd/" + std::to_string(fd_.get());
  if (::linkat(AT_FDCWD, path.c_str(), directory_, name.c_str(), AT_SYMLINK_FOLLOW) == 0) return true;
  if (errno == EEXIST) return false;
  fail_with_errno("give the file its name");
}

void fresh_file::name_temporarily() {
  for (int tries = 0; tries < most_names; ++tries) {
    auto name = temporary_name();
    if (!link_to(name)) continue;
    temporary_ = std::move(name);
    return;
  }
  throw file_failure(EEXIST, "a temporary name");
}

bool fresh_file::publish_new(const std::string& name) {
  if (temporary_.empty()) return link_to(name);
  if (rename_new(directory_, temporary_.c_str(), name.c_str()) == 0) {
    temporary_.clear();
    return true;
  }
  if (errno == EEXIST) return false;
  // No such rename here: a second name, and the first one goes.
  if (::linkat(directory_, temporary_.c_str(), directory_, name.c_str(), 0) == 0) {
    ::unlinkat(directory_, temporary_.c_str(), 0);
    temporary_.clear();
    return true;
  }
  if (errno == EEXIST) return false;
  fail_with_errno("give the file its name");
}

void fresh_file::publish(const std::string& name) {
  if (temporary_.empty()) name_temporarily();
  check_file(::renameat(directory_, temporary_.c_str(), directory_, name.c_str()));
  temporary_.clear();
}

}  // namespace berth
