#include "context/resident_channel.hpp"
#include "core/compat.hpp"
#include "os/pipe_write.hpp"

#include <asio/posix/stream_descriptor.hpp>
#include <asio/use_awaitable.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace berth {
namespace {

using asio::posix::stream_descriptor;

class stdio_channel final : public resident_channel, public std::enable_shared_from_this<stdio_channel> {
 public:
  stdio_channel(asio::any_io_executor executor, unique_fd from, unique_fd to)
      : in_(executor, from.release()), out_(executor, to.release()) {
    in_.native_non_blocking(true);
    out_.native_non_blocking(true);
  }

  task<std::size_t> read(std::span<char> into, fd_inbox&) override { return read_some(shared_from_this(), into); }

  void send(std::string bytes, std::vector<unique_fd>) override {
    if (!out_.is_open()) return;
    queue_.push_back(std::move(bytes));
    if (!waiting_) flush();
  }

  bool passes_fds() const noexcept override { return false; }

  bool has_input() const noexcept override {
    int waiting = 0;
    auto& in = const_cast<stream_descriptor&>(in_);
    return in_.is_open() && ::ioctl(in.native_handle(), FIONREAD, &waiting) == 0 && waiting > 0;
  }

  void close() noexcept override {
    std::error_code ignored;
    in_.close(ignored);
    out_.close(ignored);
    queue_.clear();
    sent_ = 0;
  }

 private:
  static task<std::size_t> read_some(std::shared_ptr<stdio_channel> self, std::span<char> into) {
    while (self->in_.is_open()) {
      const auto [failed] = co_await self->in_.async_wait(stream_descriptor::wait_read, as_tuple(asio::use_awaitable));
      if (!self->in_.is_open()) break;
      if (failed) throw std::system_error(failed);
      const ssize_t n = ::read(self->in_.native_handle(), into.data(), into.size());
      if (n >= 0) co_return static_cast<std::size_t>(n);
      if (errno != EAGAIN && errno != EINTR) break;
    }
    co_return 0;
  }

  void flush() {
    while (!queue_.empty()) {
      const std::string& one = queue_.front();
      const ssize_t n = write_no_sigpipe(out_.native_handle(), one.data() + sent_, one.size() - sent_);
      if (n >= 0) {
        sent_ += static_cast<std::size_t>(n);
        if (sent_ < one.size()) continue;
        sent_ = 0;
        queue_.pop_front();
      } else if (errno == EAGAIN) {
        waiting_ = true;
        const auto go_on = [self = shared_from_this()](std::error_code failed) { self->go_on(failed); };
        return out_.async_wait(stream_descriptor::wait_write, go_on);
      } else if (errno != EINTR) {
        sent_ = 0;
        return queue_.clear();  // the reader sees the end
      }
    }
  }

  void go_on(std::error_code failed) {
    waiting_ = false;
    if (!failed && out_.is_open()) flush();
  }

  stream_descriptor in_;
  stream_descriptor out_;
  std::deque<std::string> queue_;
  std::size_t sent_ = 0;
  bool waiting_ = false;
};

}  // namespace

std::shared_ptr<resident_channel> make_stdio_channel(asio::any_io_executor executor, unique_fd from_resident,
                                                     unique_fd to_resident) {
  return std::make_shared<stdio_channel>(std::move(executor), std::move(from_resident), std::move(to_resident));
}

}  // namespace berth
