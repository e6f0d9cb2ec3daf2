#include "core/compat.hpp"
#include "http/byte_stream.hpp"

#include <asio/error.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/use_awaitable.hpp>

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace berth::http {
namespace {

using asio::posix::stream_descriptor;

[[noreturn]] void fail_with_errno() { throw std::system_error(errno, std::system_category()); }

class stdio_stream final : public byte_stream, public std::enable_shared_from_this<stdio_stream> {
 public:
  stdio_stream(const asio::any_io_executor& executor, int from, int to, pipe_writer writer, std::shared_ptr<void> child)
      : in_(executor, from), out_(executor, to), writer_(writer), child_(std::move(child)) {
    in_.native_non_blocking(true);
    out_.native_non_blocking(true);
  }

  task<std::size_t> read(std::span<char> into) override { return read_some(shared_from_this(), into); }
  task<void> write(std::string bytes) override { return write_all(shared_from_this(), std::move(bytes)); }
  task<void> shutdown_write() override { return shut(shared_from_this()); }

  bool write_last(std::string_view bytes) noexcept override {
    if (!out_.is_open()) return false;
    const ssize_t n = writer_(out_.native_handle(), bytes.data(), bytes.size());
    return n >= 0 && static_cast<std::size_t>(n) == bytes.size();
  }

  void close() noexcept override {
    std::error_code ignored;
    in_.close(ignored);
    out_.close(ignored);
    child_.reset();
  }

  bool is_quiet() const noexcept override {
    if (!in_.is_open() || !out_.is_open()) return false;
    pollfd both[] = {{const_cast<stream_descriptor&>(in_).native_handle(), POLLIN, 0},
                     {const_cast<stream_descriptor&>(out_).native_handle(), 0, 0}};
    return ::poll(both, 2, 0) == 0;
  }

  std::uint64_t written() const noexcept override { return written_; }

 private:
  static task<void> ready(std::shared_ptr<stdio_stream> self, bool to_read) {
    auto& end = to_read ? self->in_ : self->out_;
    const auto what = to_read ? stream_descriptor::wait_read : stream_descriptor::wait_write;
    const auto [failed] = co_await end.async_wait(what, as_tuple(asio::use_awaitable));
    if (failed) throw std::system_error(failed);
    if (!end.is_open()) throw std::system_error(make_error_code(asio::error::operation_aborted));
  }

  static task<std::size_t> read_some(std::shared_ptr<stdio_stream> self, std::span<char> into) {
    for (;;) {
      co_await ready(self, true);
      const ssize_t n = ::read(self->in_.native_handle(), into.data(), into.size());
      if (n >= 0) co_return static_cast<std::size_t>(n);
      if (errno != EAGAIN && errno != EINTR) fail_with_errno();
    }
  }

  static task<void> write_all(std::shared_ptr<stdio_stream> self, std::string bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      if (!self->out_.is_open()) throw std::system_error(make_error_code(asio::error::broken_pipe));
      const ssize_t n = self->writer_(self->out_.native_handle(), bytes.data() + at, bytes.size() - at);
      if (n >= 0) {
        at += static_cast<std::size_t>(n);
        self->written_ += static_cast<std::uint64_t>(n);
      } else if (errno == EAGAIN) {
        co_await ready(self, false);
      } else if (errno != EINTR) {
        fail_with_errno();
      }
    }
  }

  static task<void> shut(std::shared_ptr<stdio_stream> self) {
    std::error_code ignored;
    self->out_.close(ignored);
    co_return;
  }

  stream_descriptor in_;
  stream_descriptor out_;
  pipe_writer writer_;
  std::shared_ptr<void> child_;
  std::uint64_t written_ = 0;
};

}  // namespace

stream_ptr make_stdio_stream(asio::any_io_executor executor, int from_child, int to_child, pipe_writer writer,
                             std::shared_ptr<void> child) {
  return std::make_shared<stdio_stream>(executor, from_child, to_child, writer, std::move(child));
}

}  // namespace berth::http
