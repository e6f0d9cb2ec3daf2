#include "context/spill_file.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "core/syscall.hpp"
#include "os/fresh_file.hpp"
#include "os/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t piece_size = std::size_t{256} << 10;
constexpr mode_t only_owner = 0600;

/// A device, or a terminal.
unique_fd open_special(int directory, const std::string& name) {
  // A FIFO without a reader would hold this thread for ever.
  constexpr int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  unique_fd opened(check_syscall(::openat(directory, name.c_str(), flags), "open it"));
  struct stat found {};
  check_syscall(::fstat(opened.get(), &found), "open it");
  // Whoever reads it, or does not, would hold up the command beyond its deadline.
  if (S_ISFIFO(found.st_mode)) throw error(make_error_code(errc::invalid_argument), "it is a FIFO; name a file");
  if (S_ISREG(found.st_mode)) throw error(make_error_code(errc::conflict), "it was replaced meanwhile");
  ::fcntl(opened.get(), F_SETFL, O_WRONLY);
  return opened;
}

/// Its directory may be one that commands write: neither a link that they put there is followed, nor a file written that has a
/// second name.
unique_fd open_new(const std::string& path) {
  const auto slash = path.rfind('/');
  const std::string above = slash == path.npos ? "." : path.substr(0, slash + 1);
  const std::string name = slash == path.npos ? path : path.substr(slash + 1);
  constexpr int flags = O_PATH | O_DIRECTORY | O_CLOEXEC;
  const unique_fd directory(check_syscall(::open(above.c_str(), flags), "its directory"));
  struct stat found {};
  const bool is_there = ::fstatat(directory.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
  if (is_there && S_ISLNK(found.st_mode))
    throw error(make_error_code(errc::invalid_argument), "it is a link, which is not followed; name the file itself");
  if (is_there && !S_ISREG(found.st_mode)) return open_special(directory.get(), name);
  fresh_file fresh(directory.get(), only_owner);
  fresh.publish(name);
  return fresh.take();
}

}  // namespace

// The pool's thread has it during an await, the executor's thread the rest of the time.
struct spill_file::content {
  explicit content(std::string where) : path(std::move(where)) {}
  content(const content&) = delete;
  content& operator=(const content&) = delete;
  ~content() {
    if (fd >= 0) ::close(fd);
  }

  void open() {
    try {
      fd = open_new(path).release();
    } catch (const error& caught) {
      throw caught.within("the spill file " + shown_path(path));
    }
  }

  void fail(int code) {
    if (failure.empty()) failure = path + ": " + std::system_category().message(code);
    pending.clear();
  }

  void write() {
    std::size_t done = 0;
    while (done < pending.size()) {
      const auto wrote = ::write(fd, pending.data() + done, pending.size() - done);
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) return fail(errno);
      done += static_cast<std::size_t>(wrote);
    }
    pending.clear();
  }

  void close() {
    write();
    if (fd >= 0 && ::close(std::exchange(fd, -1)) != 0) fail(errno);
  }

  std::string path;
  std::string pending;
  std::string failure;
  int fd = -1;
};

spill_file::spill_file(std::shared_ptr<blocking_pool> pool, std::shared_ptr<content> what)
    : pool_(std::move(pool)), content_(std::move(what)) {}

task<void> spill_file::run(std::shared_ptr<blocking_pool> pool, std::shared_ptr<content> what,
                           void (*function)(content&)) {
  auto call = [what, function] { function(*what); };
  auto calling = pool->run(std::move(call));
  co_await std::move(calling);
}

task<std::shared_ptr<spill_file>> spill_file::open(std::shared_ptr<blocking_pool> pool, std::string path) {
  auto what = std::make_shared<content>(std::move(path));
  co_await run(pool, what, [](content& file) { file.open(); });
  co_return std::shared_ptr<spill_file>(new spill_file(std::move(pool), std::move(what)));
}

bool spill_file::add(std::string_view bytes) {
  if (!content_->failure.empty()) return false;
  content_->pending.append(bytes);
  return content_->pending.size() >= piece_size;
}

task<void> spill_file::flush() {
  return run(pool_, content_, [](content& file) { file.write(); });
}

task<void> spill_file::close() {
  return run(pool_, content_, [](content& file) { file.close(); });
}

const std::string& spill_file::path() const noexcept { return content_->path; }
const std::string& spill_file::failure() const noexcept { return content_->failure; }

}  // namespace berth
