#include "os/fd_reserve.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>

namespace berth {

// O_PATH: no device is opened. The first is opened, the others are copies of it, which is cheaper.
bool fd_reserve::hold_one() {
  const int fd = held_.empty() ? ::open("/", O_PATH | O_CLOEXEC) : ::fcntl(held_.front().get(), F_DUPFD_CLOEXEC, 0);
  if (fd < 0) return false;
  held_.emplace_back(fd);
  return true;
}

bool fd_reserve::expect(std::size_t count) {
  expected_ += count;
  while (held_.size() < expected_) {
    if (hold_one()) continue;
    const int code = errno;
    settle(count);
    errno = code;
    return false;
  }
  return true;
}

void fd_reserve::settle(std::size_t count) noexcept {
  expected_ -= std::min(count, expected_);
  while (held_.size() > expected_) held_.pop_back();
}

void fd_reserve::make_room(std::size_t count) noexcept {
  for (; count > 0 && !held_.empty(); --count) held_.pop_back();
}

void fd_reserve::refill() {
  while (held_.size() < expected_ && hold_one()) {
  }
}

}  // namespace berth
