#include "os/pipe_write.hpp"

#include <pthread.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <ctime>

namespace berth {
namespace {

constexpr int rwf_nosignal = 0x100;  // Linux 6.18

// Masks the signal around the write, and takes away the one that this write raised. One that was pending before, or that
// the program has blocked itself, is left alone: the signals are one and the same then.
ssize_t write_masked(int fd, const void* data, std::size_t size) noexcept {
  sigset_t pipe_only;
  sigset_t pending;
  sigset_t before;
  ::sigemptyset(&pipe_only);
  ::sigaddset(&pipe_only, SIGPIPE);
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  const bool was_pending = ::sigismember(&pending, SIGPIPE) == 1;
  if (!was_pending) ::pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
  const ssize_t n = ::write(fd, data, size);
  const int code = errno;
  if (!was_pending) {
    const timespec at_once{};
    if (n < 0 && code == EPIPE) {
      while (::sigtimedwait(&pipe_only, nullptr, &at_once) < 0 && errno == EINTR) {
      }
    }
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  errno = code;
  return n;
}

}  // namespace

ssize_t write_no_sigpipe(int fd, const void* data, std::size_t size) noexcept {
  static std::atomic<bool> kernel_can{true};
  if (kernel_can.load(std::memory_order_relaxed)) {
    const iovec one{const_cast<void*>(data), size};
    const ssize_t n = ::pwritev2(fd, &one, 1, -1, rwf_nosignal);
    if (n >= 0 || (errno != EOPNOTSUPP && errno != EINVAL && errno != ENOSYS)) return n;
    kernel_can.store(false, std::memory_order_relaxed);
  }
  return write_masked(fd, data, size);
}

}  // namespace berth
