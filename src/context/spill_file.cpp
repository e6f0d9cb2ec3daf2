#include "context/spill_file.hpp"

#include "core/syscall.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t piece_size = std::size_t{256} << 10;
constexpr mode_t only_owner = 0600;

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
    // A FIFO without a reader would hold this thread for ever.
    fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, only_owner);
    if (fd < 0) throw error(std::error_code(errno, std::system_category()), "open the spill file " + path);
    ::fcntl(fd, F_SETFL, O_WRONLY);
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
