#include "os/file_overwrite.hpp"

#include "os/file_failure.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace berth {
namespace {

constexpr std::size_t copied_at_once = std::size_t{256} << 10;

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::write(fd, bytes.data(), bytes.size());
    if (wrote < 0 && errno == EINTR) continue;
    bytes.remove_prefix(static_cast<std::size_t>(check_file(wrote)));
  }
}

}  // namespace

file_overwrite::file_overwrite(int file) : kept_(check_file(::memfd_create("berth-write", MFD_CLOEXEC))) {
  const std::string through = "/proc/self/fd/" + std::to_string(file);
  file_.reset(check_file(::open(through.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)));
}

void file_overwrite::write(std::string_view bytes) { write_all(kept_.get(), bytes); }

void file_overwrite::commit(bool durable) {
  std::string piece(copied_at_once, '\0');
  off_t done = 0;
  for (;;) {
    const auto got = check_file(::pread(kept_.get(), piece.data(), piece.size(), done));
    if (got == 0) break;
    write_all(file_.get(), std::string_view(piece).substr(0, static_cast<std::size_t>(got)));
    done += got;
  }
  check_file(::ftruncate(file_.get(), done));
  if (durable) check_file(::fsync(file_.get()));
}

}  // namespace berth
