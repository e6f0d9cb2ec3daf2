#pragma once
/// Writing to a pipe without a SIGPIPE for the host program.

#include <sys/types.h>

#include <cstddef>

namespace berth {

/// As write(2), but a pipe that nobody reads is EPIPE and nothing else, whatever the host program does about SIGPIPE.
ssize_t write_no_sigpipe(int fd, const void* data, std::size_t size) noexcept;

}  // namespace berth
