#include "os/whole_file.hpp"

#include "os/unique_fd.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace berth {

std::string whole_file(const std::string& path, std::size_t most) {
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) throw std::system_error(errno, std::system_category(), path);
  std::string bytes;
  std::array<char, 16384> buffer;
  for (;;) {
    const ssize_t count = ::read(fd.get(), buffer.data(), buffer.size());
    if (count == 0) return bytes;
    if (count < 0 && errno != EINTR) throw std::system_error(errno, std::system_category(), path);
    if (count > 0) bytes.append(buffer.data(), static_cast<std::size_t>(count));
    if (bytes.size() > most) throw std::system_error(EFBIG, std::system_category(), path);
  }
}

}  // namespace berth
