#include "os/file_reader.hpp"

#include "os/file_failure.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace berth {
namespace {

constexpr int reading_flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

void check_regular(mode_t mode) {
  if (S_ISDIR(mode)) throw file_failure(EISDIR);
  if (!S_ISREG(mode)) throw error(make_error_code(errc::unsupported), "not a regular file");
}

}  // namespace

unique_fd open_regular(const located& where) {
  const int named = where.itself ? ::fcntl(where.itself.get(), F_DUPFD_CLOEXEC, 0)
                                 : ::openat(where.directory.get(), where.name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC);
  const unique_fd seen(check_file(named));
  struct stat found {};
  check_file(::fstat(seen.get(), &found));
  check_regular(found.st_mode);
  unique_fd opened(::open(("/proc/self/fd/" + std::to_string(seen.get())).c_str(), reading_flags));
  if (opened) return opened;
  if (errno != ENOENT || where.itself) fail_with_errno("");
  // Without /proc: what was opened may be another by now, so it is looked at again.
  opened.reset(check_file(::openat(where.directory.get(), where.name.c_str(), reading_flags | O_NOFOLLOW)));
  check_file(::fstat(opened.get(), &found));
  check_regular(found.st_mode);
  return opened;
}

file_reader::file_reader(const path_scope& scope, const std::string& path, read_options options)
    : offset_(options.offset()), left_(options.limit()) {
  constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<off_t>::max());
  if (path.ends_with('/')) (void)scope.open(path, O_PATH | O_DIRECTORY);  // says what is wrong, or it is one
  fd_ = open_regular(scope.target_of(path));
  if (offset_ > last) left_ = 0;
}

std::string file_reader::read() {
  std::string bytes;
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(left_, piece_size));
  bytes.resize(at_end_ ? 0 : wanted);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::pread(fd_.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(offset_));
    if (got < 0 && errno == EINTR) continue;
    if (check_file(got) == 0) break;
    done += static_cast<std::size_t>(got);
    offset_ += static_cast<std::uint64_t>(got);
  }
  at_end_ = done < wanted || wanted == left_;
  left_ -= done;
  bytes.resize(done);
  if (at_end_) fd_.reset();
  return bytes;
}

}  // namespace berth
