/// Commands whose pipes or terminal were handed over: their bytes pass nobody between.
#include "context/resident_command.hpp"
#include "core/compat.hpp"
#include "os/pipe_write.hpp"
#include "os/terminal_master.hpp"

#include <asio/error.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace berth {
namespace {

using asio::posix::stream_descriptor;

constexpr std::size_t pipe_size = 64u << 10;
constexpr int large_pipe = 1 << 20;
constexpr int most_large_pipes = 16;  // of a link; all unprivileged pipes of a user share 64 MiB
constexpr int full_reads_before_large = 4;
// A terminal gives at most 4 KiB at once, and less in a burst; below this, nothing more is to be expected at once.
constexpr std::size_t terminal_burst = 1024;

struct output_pipe {
  std::optional<stream_descriptor> fd;  ///< of a terminal its master, for input too
  bool armed = false;                   ///< a wait is under way
  bool ready = false;                   ///< it said there is something
  bool large = false;
  int full_reads = 0;  ///< in a row
};

class handed_command final : public resident_command {
 public:
  using resident_command::resident_command;

  task<void> write(std::string bytes) override {
    auto self = std::static_pointer_cast<handed_command>(shared_from_this());
    return write_all(std::move(self), std::move(bytes));
  }

  void close_stdin() override {
    in_.reset();
    if (has_terminal() && has_input()) type_end();
  }

  void resize(terminal_size size) override {
    if (has_terminal() && out_[0].fd) resize_terminal(out_[0].fd->native_handle(), size.columns(), size.rows());
  }

  void abandon_streams() override {
    std::vector<unique_fd> fds;
    for (output_pipe& pipe : out_) {
      if (pipe.fd) fds.emplace_back(pipe.fd->release());
      drop(pipe);
    }
    if (!fds.empty() && !lost()) session().send(make_frame(wire::frame_type::abandon, id()), std::move(fds));
  }

 protected:
  bool take_streams(fd_batch batch) override {
    const std::size_t outputs = merges() ? 1 : 2;
    const std::size_t inputs = has_input() && !has_terminal() ? 1 : 0;
    if (batch.truncated || batch.fds.size() != inputs + outputs) return false;
    if (inputs > 0) {
      in_.emplace(session().executor(), batch.fds[0].release());
      in_->native_non_blocking(true);
    }
    for (std::size_t i = 0; i < outputs; ++i) {
      out_[i].fd.emplace(session().executor(), batch.fds[inputs + i].release());
      out_[i].fd->native_non_blocking(true);
    }
    return true;
  }

  void on_stream_frame(const wire::header&, std::string_view) override {}

  std::optional<chunk> take_chunk(bool look) override {
    for (std::size_t turn = 0; turn < out_.size(); ++turn) {
      const std::size_t which = (last_ + 1 + turn) % out_.size();
      output_pipe& pipe = out_[which];
      if (!pipe.fd || !(pipe.ready || look)) continue;
      const auto buffer = session().read_buffer();
      const ssize_t n = read_some(*pipe.fd, buffer);
      if (n > 0) {
        last_ = which;
        noted(pipe, static_cast<std::size_t>(n));
        return chunk(which == 0 ? output_stream::std_out : output_stream::std_err,
                     std::string(buffer.data(), static_cast<std::size_t>(n)));
      }
      if (n < 0 && errno == EAGAIN) {
        pipe.ready = false;
        pipe.full_reads = 0;
      } else {
        drop(pipe);
      }
    }
    return std::nullopt;
  }

  bool streams_done() const override { return !out_[0].fd && !out_[1].fd; }

  void arm() override {
    for (output_pipe& pipe : out_) {
      if (!pipe.fd || pipe.ready || pipe.armed) continue;
      pipe.armed = true;
      auto self = std::static_pointer_cast<handed_command>(shared_from_this());
      pipe.fd->async_wait(stream_descriptor::wait_read, [self, &pipe](std::error_code failed) {
        pipe.armed = false;
        if (failed) return;
        pipe.ready = true;
        self->changed().notify();
      });
    }
  }

  void close_streams() override {
    for (output_pipe& pipe : out_) drop(pipe);
    in_.reset();
  }

 private:
  static ssize_t read_some(stream_descriptor& from, std::span<char> into) {
    ssize_t n = 0;
    do {
      n = ::read(from.native_handle(), into.data(), into.size());
    } while (n < 0 && errno == EINTR);
    return n;
  }

  // A read that did not fill a pipe has emptied it: the next look is the reactor's. One that did may have left something.
  void noted(output_pipe& pipe, std::size_t bytes) {
    const bool full = bytes >= (has_terminal() ? terminal_burst : pipe_size);
    pipe.ready = full;
    if (has_terminal()) return;
    pipe.full_reads = full ? pipe.full_reads + 1 : 0;
    if (pipe.full_reads != full_reads_before_large || pipe.large || session().large_pipes() >= most_large_pipes) return;
    if (::fcntl(pipe.fd->native_handle(), F_SETPIPE_SZ, large_pipe) < 0)
      return;  // the user's share of pipe memory is used up
    pipe.large = true;
    ++session().large_pipes();
  }

  void drop(output_pipe& pipe) {
    pipe.fd.reset();
    pipe.ready = false;
    if (std::exchange(pipe.large, false)) --session().large_pipes();
  }

  // What is typed goes into the master that the output comes from.
  std::optional<stream_descriptor>& input() { return has_terminal() ? out_[0].fd : in_; }

  // Where what was typed before has not been read, it waits for room.
  void type_end() {
    if (!out_[0].fd || type_end_of_file(out_[0].fd->native_handle())) return;
    auto self = std::static_pointer_cast<handed_command>(shared_from_this());
    out_[0].fd->async_wait(stream_descriptor::wait_write, [self](std::error_code failed) {
      if (!failed) self->type_end();
    });
  }

  [[noreturn]] void fail_write(int code) {
    if (!has_terminal()) close_stdin();
    // A terminal that nobody has open any more says EIO.
    if (code == EPIPE || (code == EIO && has_terminal()))
      throw std::system_error(std::make_error_code(std::errc::broken_pipe), "standard input");
    throw std::system_error(code, std::system_category(), "standard input");
  }

  ssize_t write_some(const std::string& bytes, std::size_t from) {
    const int fd = input()->native_handle();
    const char* const at = bytes.data() + from;
    const std::size_t left = bytes.size() - from;
    return has_terminal() ? write_terminal(fd, at, left) : write_no_sigpipe(fd, at, left);
  }

  static task<void> write_all(std::shared_ptr<handed_command> self, std::string bytes) {
    std::size_t done = 0;
    while (done < bytes.size()) {
      if (!self->input()) self->fail_write(EPIPE);
      const ssize_t n = self->write_some(bytes, done);
      if (n >= 0) {
        done += static_cast<std::size_t>(n);
      } else if (errno == EAGAIN) {
        const auto [failed] =
            co_await self->input()->async_wait(stream_descriptor::wait_write, as_tuple(asio::use_awaitable));
        if (failed && self->input()) throw std::system_error(failed);
      } else if (errno != EINTR) {
        self->fail_write(errno);
      }
    }
  }

  std::array<output_pipe, 2> out_;
  std::size_t last_ = 1;
  std::optional<stream_descriptor> in_;
};

}  // namespace

std::shared_ptr<resident_command> make_handed_command(std::shared_ptr<resident_session> session,
                                                      start_request request) {
  return std::make_shared<handed_command>(std::move(session), std::move(request));
}

}  // namespace berth
