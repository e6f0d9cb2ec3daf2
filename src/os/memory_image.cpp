#include "os/memory_image.hpp"

#include "core/syscall.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <system_error>

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace berth {
namespace {

// Above what a start places its own descriptors at.
constexpr int lowest_fd = 16;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// A file size limit of the host program (ulimit -f) is an error here, and not the end of that program.
class no_size_signal {
 public:
  no_size_signal() {
    sigset_t pending;
    ::sigemptyset(&only_);
    ::sigaddset(&only_, SIGXFSZ);
    ::sigemptyset(&pending);
    ::sigpending(&pending);
    was_pending_ = ::sigismember(&pending, SIGXFSZ) == 1;
    ::pthread_sigmask(SIG_BLOCK, &only_, &before_);
  }
  no_size_signal(const no_size_signal&) = delete;
  no_size_signal& operator=(const no_size_signal&) = delete;
  ~no_size_signal() {
    const timespec at_once{};
    if (!was_pending_) ::sigtimedwait(&only_, nullptr, &at_once);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t only_;
  sigset_t before_;
  bool was_pending_;
};

unique_fd moved_up(unique_fd fd) {
  const int moved = ::fcntl(fd.get(), F_DUPFD_CLOEXEC, lowest_fd);
  if (moved < 0 && errno == EINVAL) errno = EMFILE;  // the limit lies below
  return unique_fd(check_syscall(moved, "a descriptor for a helper's image"));
}

// Directories in which a temporary file may be made and perhaps executed.
std::string candidate(int index) {
  const char* variables[] = {"TMPDIR", "XDG_RUNTIME_DIR"};
  const char* fixed[] = {"/tmp", "/var/tmp", "/dev/shm"};
  if (index < 2) {
    const char* value = ::secure_getenv(variables[index]);
    return value ? value : "";
  }
  return index < 5 ? fixed[index - 2] : "";
}

bool holds(int fd, std::string_view bytes) {
  std::string piece(std::size_t{64} << 10, '\0');
  for (std::size_t at = 0;;) {
    const ssize_t n = ::pread(fd, piece.data(), piece.size(), static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n == 0 && at == bytes.size();
    if (bytes.substr(at, static_cast<std::size_t>(n)) != std::string_view(piece.data(), static_cast<std::size_t>(n)))
      return false;
    at += static_cast<std::size_t>(n);
  }
}

// An executable file that is open for reading only; none if the directory cannot hold one. It never had a name: a command in a
// sandbox may write in the directory, and would open it by that and have us run what it likes.
unique_fd file_in(const std::string& directory, std::string_view bytes) {
  unique_fd writing(::open(directory.c_str(), O_TMPFILE | O_EXCL | O_WRONLY | O_CLOEXEC, 0500));
  if (!writing || !write_all(writing.get(), bytes) || ::fchmod(writing.get(), 0500) != 0) return {};
  const std::string itself = memory_image::path(writing.get());
  unique_fd reading(::open(itself.c_str(), O_RDONLY | O_CLOEXEC));
  if (!reading || ::access(itself.c_str(), X_OK) != 0) return {};  // a noexec mount says no here
  writing.reset();                                                 // what is open for writing is not executed
  if (holds(reading.get(), bytes)) return reading;
  errno = EIO;
  return {};
}

}  // namespace

std::string memory_image::path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

int memory_image::fd() {
  const std::lock_guard lock(mutex_);
  if (fd_) return fd_.get();
  const no_size_signal held;
  if (kind_ == kind::memory) fd_ = make_memory();
  if (!fd_) {
    kind_ = kind::file;
    fd_ = make_file();
  }
  return fd_.get();
}

bool memory_image::fall_back() {
  const std::lock_guard lock(mutex_);
  if (kind_ == kind::file) return false;
  kind_ = kind::file;
  fd_.reset();
  return true;
}

memory_image::kind memory_image::made_of() const {
  const std::lock_guard lock(mutex_);
  return kind_;
}

unique_fd memory_image::make_memory() const {
  unique_fd fd(::memfd_create(name_.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_EXEC));
  if (!fd && errno == EINVAL)
    fd.reset(::memfd_create(name_.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));  // before Linux 6.3
  if (!fd || !write_all(fd.get(), bytes_)) return {};
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) != 0) return {};
  struct stat about {};
  if (::fstat(fd.get(), &about) != 0 || (about.st_mode & S_IXUSR) == 0) return {};  // vm.memfd_noexec took the bit off
  return moved_up(std::move(fd));
}

unique_fd memory_image::make_file() const {
  int code = ENOENT;
  for (int i = 0; i < 5; ++i) {
    const std::string directory = candidate(i);
    if (directory.empty()) continue;
    unique_fd fd = file_in(directory, bytes_);
    if (fd) return moved_up(std::move(fd));
    code = errno;
  }
  const std::string places = "TMPDIR, XDG_RUNTIME_DIR, /tmp, /var/tmp, /dev/shm";
  throw error(std::error_code(code, std::system_category()),
              "no place for the executable file of " + name_ + " (a memfd, or a nameless file in " + places + ")");
}

}  // namespace berth
