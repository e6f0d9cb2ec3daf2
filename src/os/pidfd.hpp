#pragma once
/// The system calls about pidfds, which older C libraries have no names for.

#include "os/unique_fd.hpp"

#include <sys/syscall.h>
#include <sys/types.h>

#include <csignal>

namespace berth {

/// A descriptor for the process; none where it is gone (ESRCH) or the kernel is older than 5.3 (ENOSYS): see errno.
inline unique_fd open_pidfd(pid_t pid) noexcept {
  return unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

/// As kill(2), on the process that the descriptor means and no other.
inline int send_signal(const unique_fd& pidfd, int signo) noexcept {
  return static_cast<int>(::syscall(SYS_pidfd_send_signal, pidfd.get(), signo, nullptr, 0));
}

}  // namespace berth
