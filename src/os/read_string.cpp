#include "os/read_string.hpp"

#include <unistd.h>

#include <cerrno>

namespace berth {

ssize_t read_string(int fd, std::size_t most, std::string& into) {
  ssize_t n = 0;
  into.resize_and_overwrite(most, [&n, fd](char* to, std::size_t size) {
    do {
      n = ::read(fd, to, size);
    } while (n < 0 && errno == EINTR);
    return n > 0 ? static_cast<std::size_t>(n) : std::size_t{0};
  });
  return n;
}

}  // namespace berth
