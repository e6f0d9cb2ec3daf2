#include "core/compat.hpp"
#include "http/byte_stream.hpp"

#include <asio/buffer.hpp>
#include <asio/generic/stream_protocol.hpp>
#include <asio/use_awaitable.hpp>

#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace berth::http {
namespace {

using socket_type = asio::generic::stream_protocol::socket;

int family_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  return ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) == 0 ? address.ss_family : AF_UNIX;
}

class socket_stream final : public byte_stream, public std::enable_shared_from_this<socket_stream> {
 public:
  socket_stream(const asio::any_io_executor& executor, int fd)
      : socket_(executor, asio::generic::stream_protocol(family_of(fd), 0), fd) {}

  task<std::size_t> read(std::span<char> into) override { return read_some(shared_from_this(), into); }
  task<void> write(std::string bytes) override { return write_all(shared_from_this(), std::move(bytes)); }
  task<void> shutdown_write() override { return shut(shared_from_this()); }

  bool write_last(std::string_view bytes) noexcept override {
    const ssize_t n = ::send(socket_.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    return n >= 0 && static_cast<std::size_t>(n) == bytes.size();
  }

  void close() noexcept override {
    std::error_code ignored;
    socket_.close(ignored);
  }

  bool is_quiet() const noexcept override {
    if (!socket_.is_open()) return false;
    char one;
    auto& socket = const_cast<socket_type&>(socket_);
    const ssize_t n = ::recv(socket.native_handle(), &one, 1, MSG_PEEK | MSG_DONTWAIT);
    return n < 0 && (errno == EAGAIN || errno == EINTR);
  }

  std::uint64_t written() const noexcept override { return written_; }

 private:
  static task<std::size_t> read_some(std::shared_ptr<socket_stream> self, std::span<char> into) {
    const auto buffer = asio::buffer(into.data(), into.size());
    const auto [failed, n] = co_await self->socket_.async_read_some(buffer, as_tuple(asio::use_awaitable));
    if (failed == asio::error::eof) co_return 0;
    if (failed) throw std::system_error(failed);
    co_return n;
  }

  static task<void> write_all(std::shared_ptr<socket_stream> self, std::string bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      const auto rest = asio::buffer(bytes.data() + at, bytes.size() - at);
      const auto [failed, n] = co_await self->socket_.async_write_some(rest, as_tuple(asio::use_awaitable));
      at += n;
      self->written_ += n;
      if (failed) throw std::system_error(failed);
    }
  }

  static task<void> shut(std::shared_ptr<socket_stream> self) {
    std::error_code failed;
    self->socket_.shutdown(socket_type::shutdown_send, failed);
    if (failed) throw std::system_error(failed);
    co_return;
  }

  socket_type socket_;
  std::uint64_t written_ = 0;
};

/// Gives what was read before; all else is the other stream's.
class stream_after final : public byte_stream, public std::enable_shared_from_this<stream_after> {
 public:
  stream_after(std::string before, stream_ptr stream) : before_(std::move(before)), stream_(std::move(stream)) {}

  task<std::size_t> read(std::span<char> into) override {
    if (before_.empty()) return stream_->read(into);
    return read_before(shared_from_this(), into);
  }
  task<void> write(std::string bytes) override { return stream_->write(std::move(bytes)); }
  task<void> shutdown_write() override { return stream_->shutdown_write(); }
  bool write_last(std::string_view bytes) noexcept override { return stream_->write_last(bytes); }
  void close() noexcept override {
    before_.clear();
    stream_->close();
  }
  bool is_quiet() const noexcept override { return before_.empty() && stream_->is_quiet(); }
  std::uint64_t written() const noexcept override { return stream_->written(); }

 private:
  static task<std::size_t> read_before(std::shared_ptr<stream_after> self, std::span<char> into) {
    const std::size_t n = self->before_.copy(into.data(), into.size());
    self->before_.erase(0, n);
    co_return n;
  }

  std::string before_;
  stream_ptr stream_;
};

}  // namespace

stream_ptr make_socket_stream(asio::any_io_executor executor, int socket) {
  return std::make_shared<socket_stream>(executor, socket);
}

stream_ptr make_stream_after(std::string read_before, stream_ptr stream) {
  if (read_before.empty()) return stream;
  return std::make_shared<stream_after>(std::move(read_before), std::move(stream));
}

}  // namespace berth::http
