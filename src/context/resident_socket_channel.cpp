#include "context/resident_channel.hpp"
#include "core/compat.hpp"
#include "wire/frame.hpp"

#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <system_error>

namespace berth {
namespace {

using asio::posix::stream_descriptor;

// ETOOMANYREFS: too many descriptors of this user are under way between processes; it passes as they are received.
constexpr std::chrono::milliseconds refs_pause(5);

struct message {
  std::string bytes;
  std::size_t sent = 0;
  std::vector<unique_fd> fds;
};

class socket_channel final : public resident_channel, public std::enable_shared_from_this<socket_channel> {
 public:
  socket_channel(asio::any_io_executor executor, unique_fd socket)
      : socket_(executor, socket.release()), timer_(executor) {
    socket_.native_non_blocking(true);
  }

  task<std::size_t> read(std::span<char> into, fd_inbox& inbox) override {
    return read_some(shared_from_this(), into, inbox);
  }

  void send(std::string bytes, std::vector<unique_fd> fds) override {
    if (!socket_.is_open()) return;
    queue_.push_back(message{std::move(bytes), 0, std::move(fds)});
    if (!waiting_) flush();
  }

  bool passes_fds() const noexcept override { return true; }

  bool has_input() const noexcept override {
    int waiting = 0;
    auto& socket = const_cast<stream_descriptor&>(socket_);
    return socket_.is_open() && ::ioctl(socket.native_handle(), FIONREAD, &waiting) == 0 && waiting > 0;
  }

  void close() noexcept override {
    std::error_code ignored;
    socket_.close(ignored);
    timer_.cancel();
    queue_.clear();
  }

 private:
  static task<std::size_t> read_some(std::shared_ptr<socket_channel> self, std::span<char> into, fd_inbox& inbox) {
    while (self->socket_.is_open()) {
      const auto [failed] =
          co_await self->socket_.async_wait(stream_descriptor::wait_read, as_tuple(asio::use_awaitable));
      if (!self->socket_.is_open()) break;
      if (failed) throw std::system_error(failed);
      const ssize_t n = self->receive(into, inbox);
      if (n >= 0) co_return static_cast<std::size_t>(n);
      if (errno != EAGAIN && errno != EINTR) break;  // ECONNRESET: it died with our frames unread
    }
    co_return 0;
  }

  ssize_t receive(std::span<char> into, fd_inbox& inbox) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::max_fds)];
    iovec part{into.data(), into.size()};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    inbox.reserve.make_room(wire::max_fds);
    const ssize_t n = ::recvmsg(socket_.native_handle(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (n < 0) return n;
    fd_batch batch;
    batch.truncated = (header.msg_flags & MSG_CTRUNC) != 0;
    for (cmsghdr* each = CMSG_FIRSTHDR(&header); each != nullptr; each = CMSG_NXTHDR(&header, each)) {
      if (each->cmsg_level != SOL_SOCKET || each->cmsg_type != SCM_RIGHTS) continue;
      for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= each->cmsg_len; at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, reinterpret_cast<const char*>(each) + at, sizeof fd);
        batch.fds.emplace_back(fd);
      }
    }
    if (!batch.fds.empty() || batch.truncated) inbox.batches.push_back(std::move(batch));
    return n;
  }

  ssize_t transmit(const message& one) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::max_fds)];
    iovec part{const_cast<char*>(one.bytes.data()) + one.sent, one.bytes.size() - one.sent};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (one.sent == 0 && !one.fds.empty()) {
      header.msg_control = control;
      header.msg_controllen = CMSG_SPACE(sizeof(int) * one.fds.size());
      cmsghdr* first = CMSG_FIRSTHDR(&header);
      first->cmsg_level = SOL_SOCKET;
      first->cmsg_type = SCM_RIGHTS;
      first->cmsg_len = CMSG_LEN(sizeof(int) * one.fds.size());
      for (std::size_t i = 0; i < one.fds.size(); ++i) {
        const int fd = one.fds[i].get();
        std::memcpy(CMSG_DATA(first) + i * sizeof fd, &fd, sizeof fd);
      }
    }
    return ::sendmsg(socket_.native_handle(), &header, MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  // Straight to the socket, which takes it nearly always; the reactor is asked only when it does not.
  void flush() {
    while (!queue_.empty()) {
      message& one = queue_.front();
      const ssize_t n = transmit(one);
      if (n >= 0) {
        one.sent += static_cast<std::size_t>(n);
        one.fds.clear();
        if (one.sent == one.bytes.size()) queue_.pop_front();
      } else if (errno == EAGAIN) {
        return wait_writable();
      } else if (errno == ETOOMANYREFS || errno == ENOBUFS || errno == ENOMEM) {
        return wait_time();
      } else if (errno != EINTR) {
        return queue_.clear();  // the reader sees the end
      }
    }
  }

  void wait_writable() {
    waiting_ = true;
    socket_.async_wait(stream_descriptor::wait_write,
                       [self = shared_from_this()](std::error_code failed) { self->go_on(failed); });
  }

  void wait_time() {
    waiting_ = true;
    timer_.expires_after(refs_pause);
    timer_.async_wait([self = shared_from_this()](std::error_code failed) { self->go_on(failed); });
  }

  void go_on(std::error_code failed) {
    waiting_ = false;
    if (!failed && socket_.is_open()) flush();
  }

  stream_descriptor socket_;
  asio::steady_timer timer_;
  std::deque<message> queue_;
  bool waiting_ = false;
};

}  // namespace

std::shared_ptr<resident_channel> make_socket_channel(asio::any_io_executor executor, unique_fd socket) {
  return std::make_shared<socket_channel>(std::move(executor), std::move(socket));
}

}  // namespace berth
