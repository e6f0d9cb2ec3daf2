#pragma once
/// Which system calls the commands of a sandbox may make.

#include "berth/isolation.hpp"
#include "os/unique_fd.hpp"

namespace berth {

enum class filter_architecture { native, x86_64, aarch64 };

/// A seccomp program in memory, read from its beginning, as `bwrap --seccomp` takes it. What it refuses fails with EPERM, and clone3 and
/// openat2, whose arguments a filter cannot see, with ENOSYS. Calls of other architectures are refused too.
/// Errors: unsupported where Berth was built without libseccomp, and on other architectures.
unique_fd make_syscall_filter(access_rule unix_sockets, filter_architecture which = filter_architecture::native);

}  // namespace berth
