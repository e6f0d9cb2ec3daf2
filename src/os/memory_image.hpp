#pragma once
/// A program that is carried in memory, made executable.

#include "os/unique_fd.hpp"

#include <mutex>
#include <string>
#include <string_view>

namespace berth {

/// An executable file without a name, made of bytes: a sealed memfd, or a file that never had a name (O_TMPFILE) where the system
/// refuses to execute memfds (vm.memfd_noexec, a security policy). Made on first use and kept, so that the next start costs nothing.
///
/// May be used from several threads: it is meant to be one for the whole process.
class memory_image {
 public:
  enum class kind { memory, file };

  /// `name` is what /proc shows; the bytes must outlive the image.
  memory_image(std::string name, std::string_view bytes) : name_(std::move(name)), bytes_(bytes) {}

  /// The descriptor, close-on-exec and above the numbers that a start places its own at. Run it as path(fd).
  int fd();
  static std::string path(int fd);

  /// Gives up the memfd: execution was refused. False if it was a file already.
  bool fall_back();
  kind made_of() const;

  const std::string& name() const noexcept { return name_; }

 private:
  unique_fd make_memory() const;
  unique_fd make_file() const;

  mutable std::mutex mutex_;
  std::string name_;
  std::string_view bytes_;
  kind kind_ = kind::memory;
  unique_fd fd_;
};

}  // namespace berth
