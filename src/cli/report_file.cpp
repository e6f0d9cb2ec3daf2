#include "cli/report_file.hpp"

#include "cli/subcommand.hpp"
#include "cli/unfinished_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

constexpr int most_links = 40;
constexpr int most_names = 100;

bool is_of_the_system(const std::string& path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

bool is_same_file(const struct stat& one, int fd) {
  struct stat other {};
  return ::fstat(fd, &other) == 0 && one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

/// Follows links by hand: what the last one leads to need not exist.
std::string behind_links(const std::string& path) {
  fs::path at = fs::absolute(path);
  for (int i = 0; i < most_links && fs::is_symlink(at); ++i) at = at.parent_path() / fs::read_symlink(at);
  return fs::weakly_canonical(at.parent_path()) / at.filename();
}

}  // namespace

report_file::report_file(std::string path) : path_(std::move(path)), target_(path_) {
  if (path_ == "-") throw usage_error("'-' names no report; /dev/stdout is standard output, ./- a file of that name");
  struct stat now {};
  const bool exists = ::stat(path_.c_str(), &now) == 0;
  if (!exists && errno != ENOENT) fail(errno);
  if (is_of_the_system(path_) || (exists && !S_ISREG(now.st_mode))) {
    open_directly();
    return;
  }
  try {
    target_ = behind_links(path_);
  } catch (const fs::filesystem_error& failure) {
    fail(failure.code().value());
  }
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail(errno);
  open_beside();
  if (exists) (void)::fchmod(fd_, now.st_mode & 07777U);
}

report_file::report_file(report_file&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      fd_(std::exchange(other.fd_, -1)) {}

report_file::~report_file() { drop(); }

void report_file::fail(int code) const { throw usage_error(fmt::format("{}: {}", path_, std::strerror(code))); }

void report_file::open_directly() {
  struct stat now {};
  const bool exists = ::stat(path_.c_str(), &now) == 0;
  // Opened again, a file that is our standard output would be written from its start by both.
  for (const int standard : {STDOUT_FILENO, STDERR_FILENO}) {
    if (fd_ < 0 && exists && is_same_file(now, standard)) fd_ = ::fcntl(standard, F_DUPFD_CLOEXEC, 3);
  }
  if (fd_ < 0) fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (fd_ < 0) fail(errno);
}

void report_file::open_beside() {
  const fs::path folder = fs::path(target_).parent_path();
  // The name does not grow with that of the target, which may be as long as one can be.
  for (int i = 0; i < most_names && fd_ < 0; ++i) {
    temporary_ = folder / fmt::format(".berth-bench-{}-{}", ::getpid(), i);
    if (!remove_at_signal(temporary_)) fail(ENAMETOOLONG);
    fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ >= 0) return;
    const int why = errno;
    forget_at_signal(temporary_);
    temporary_.clear();
    if (why != EEXIST) fail(why);
  }
  fail(EEXIST);
}

void report_file::put(const std::string& text) {
  const auto broken = [this] { return std::system_error(errno, std::generic_category(), "writing " + path_); };
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t more = ::write(fd_, text.data() + done, text.size() - done);
    if (more < 0 && errno != EINTR) throw broken();
    if (more > 0) done += static_cast<std::size_t>(more);
  }
  if (temporary_.empty()) return;
  if (::fsync(fd_) != 0) throw broken();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw broken();
  forget_at_signal(temporary_);
  temporary_.clear();
}

void report_file::drop() noexcept {
  if (!temporary_.empty()) {
    ::unlink(temporary_.c_str());
    forget_at_signal(temporary_);
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

}  // namespace berth::cli
