#include "cli/standard_stream.hpp"

#include "cli/raw_terminal.hpp"
#include "core/compat.hpp"

#include <berth/error.hpp>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t read_size = std::size_t{64} << 10;
// Job control gives no sign when a terminal becomes ours, and files have no readiness to wait for.
constexpr auto second_look = 250ms;

enum class transfer {
  plain,         // a file: always ready
  non_blocking,  // our own opening of a pipe or terminal
  socket,        // non-blocking call by call
  small_pieces,  // blocks, but not for what fits once it is ready
};

transfer transfer_of(int fd) {
  struct stat about {};
  if (::fstat(fd, &about) == -1 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode) || S_ISBLK(about.st_mode)) {
    return transfer::plain;
  }
  if (S_ISSOCK(about.st_mode)) return transfer::socket;
  return S_ISFIFO(about.st_mode) || ::isatty(fd) == 1 ? transfer::non_blocking : transfer::small_pieces;
}

}  // namespace

struct standard_stream::state {
  state(asio::any_io_executor executor, int given, direction way)
      : fd(given), how(transfer_of(given)), watch(executor), timer(executor) {
    if (how == transfer::non_blocking) open_again(way);
    if (how != transfer::plain) watch_readiness(way);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() {
    if (own != -1) ::close(own);
  }

  void open_again(direction way) {
    const int mode = way == direction::in ? O_RDONLY : O_WRONLY;
    own = ::open(fmt::format("/proc/self/fd/{}", fd).c_str(), mode | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own != -1)
      fd = own;
    else
      how = transfer::small_pieces;
  }

  // Asio makes non-blocking what it waits for. An epoll descriptor in between takes that instead of the stream.
  void watch_readiness(direction way) {
    const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
    epoll_event interest{};
    interest.events = way == direction::in ? EPOLLIN : EPOLLOUT;
    if (epoll != -1 && ::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest) == 0) {
      watch.assign(epoll);
      return;
    }
    if (epoll != -1) ::close(epoll);
    how = transfer::plain;  // such as /dev/null
  }

  ssize_t read_some(char* bytes, std::size_t size) const {
    return how == transfer::socket ? ::recv(fd, bytes, size, MSG_DONTWAIT) : ::read(fd, bytes, size);
  }

  ssize_t write_some(std::string_view bytes) const {
    if (how == transfer::socket) return ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    const auto size = how == transfer::small_pieces ? std::min<std::size_t>(bytes.size(), PIPE_BUF) : bytes.size();
    return ::write(fd, bytes.data(), size);
  }

  int fd;
  int own = -1;
  transfer how;
  bool given_up = false;
  asio::posix::stream_descriptor watch;
  asio::steady_timer timer;
};

standard_stream::standard_stream(asio::any_io_executor executor, int fd, direction way)
    : state_(std::make_shared<state>(std::move(executor), fd, way)) {}

task<std::string> standard_stream::read() { return read_from(state_); }
task<void> standard_stream::write(std::string bytes) { return write_to(state_, std::move(bytes)); }

void standard_stream::give_up() {
  state_->given_up = true;
  std::error_code not_open;  // where nobody waits
  state_->watch.cancel(not_open);
  state_->timer.cancel();
}

task<void> standard_stream::ready(std::shared_ptr<state> self) {
  if (!self->watch.is_open()) {
    co_await pause(self);
    co_return;
  }
  constexpr auto token = as_tuple(asio::use_awaitable);
  const auto result = co_await self->watch.async_wait(asio::posix::stream_descriptor::wait_read, token);
  const auto failure = std::get<0>(result);
  if (failure && !self->given_up) throw std::system_error(failure);
}

task<void> standard_stream::pause(std::shared_ptr<state> self) {
  constexpr auto token = as_tuple(asio::use_awaitable);
  self->timer.expires_after(second_look);
  const auto result = co_await self->timer.async_wait(token);
  const auto failure = std::get<0>(result);
  if (failure && !self->given_up) throw std::system_error(failure);
}

task<std::string> standard_stream::read_from(std::shared_ptr<state> self) {
  std::string bytes(read_size, '\0');
  for (;;) {
    // A pipe that had no writer when we opened it would never be ready, so the first look comes before the first wait.
    if (self->how == transfer::small_pieces) co_await ready(self);
    const auto count = self->read_some(bytes.data(), bytes.size());
    const int failure = count == -1 ? errno : 0;
    if (count >= 0) {
      bytes.resize(static_cast<std::size_t>(count));
      co_return bytes;
    }
    if (failure == EAGAIN) {
      co_await ready(self);
    } else if (failure == EIO && is_in_background(self->fd)) {
      co_await pause(self);
    } else if (failure != EINTR) {
      throw std::system_error(failure, std::system_category());
    }
  }
}

task<void> standard_stream::write_to(std::shared_ptr<state> self, std::string bytes) {
  std::string_view rest = bytes;
  while (!rest.empty() && !self->given_up) {
    if (self->how == transfer::small_pieces) co_await ready(self);
    if (self->given_up) break;
    const auto count = self->write_some(rest);
    const int failure = count == -1 ? errno : 0;
    if (count >= 0) {
      rest.remove_prefix(static_cast<std::size_t>(count));
    } else if (failure == EAGAIN) {
      co_await ready(self);
    } else if (failure != EINTR) {
      throw std::system_error(failure, std::system_category());
    }
  }
}

task<std::error_code> try_write(standard_stream& stream, std::string bytes) {
  try {
    co_await stream.write(std::move(bytes));
  } catch (const std::system_error& failure) {
    if (is_cancelled(failure.code())) throw;
    co_return failure.code();
  }
  co_return std::error_code();
}

}  // namespace berth::cli
