#include "docker/attached_channel.hpp"

#include "berth/error.hpp"
#include "core/event.hpp"
#include "core/task_group.hpp"
#include "docker/attach_frames.hpp"

#include <algorithm>
#include <deque>
#include <system_error>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t buffer_size = std::size_t{64} << 10;

class attached_channel final : public resident_channel {
 public:
  attached_channel(asio::any_io_executor executor, http::stream_ptr stream, logger log)
      : state_(std::make_shared<state>(executor, std::move(stream), std::move(log))), group_(executor) {
    group_.spawn(write_all(state_));
  }
  ~attached_channel() override { state_->close(); }

  task<std::size_t> read(std::span<char> into, fd_inbox&) override { return read_some(state_, into); }
  void send(std::string bytes, std::vector<unique_fd>) override {
    if (state_->closed) return;
    state_->queue.push_back(std::move(bytes));
    state_->wake.notify();
  }
  bool passes_fds() const noexcept override { return false; }
  bool has_input() const noexcept override {
    return !state_->closed && (!state_->piece.empty() || !state_->unread.empty() || !state_->stream->is_quiet());
  }
  void close() noexcept override { state_->close(); }

 private:
  struct state {
    state(const asio::any_io_executor& executor, http::stream_ptr s, logger l)
        : stream(std::move(s)), log(std::move(l)), buffer(buffer_size, '\0'), wake(executor) {}

    void close() noexcept {
      if (std::exchange(closed, true)) return;
      say_the_rest();
      stream->close();
      wake.notify();
    }

    /// What was to be written just now: a resident with a lease has to be told that this end is no accident.
    void say_the_rest() noexcept {
      if (is_writing || queue.empty()) return;
      std::string rest;
      for (const std::string& each : queue) rest += each;
      if (!stream->write_last(rest)) log.info("resident: its last frames did not go out");
    }

    /// Of what was read: the next bytes of the resident, or none.
    std::string_view next_piece() {
      while (piece.empty()) {
        const auto found = frames.next(unread);
        if (!found) break;
        if (found->from == attach_frames::stream::out) {
          piece = found->bytes;
        } else {
          log.warning("resident: " + std::string(found->bytes));
        }
      }
      return piece;
    }

    http::stream_ptr stream;
    logger log;
    attach_frames frames;
    std::string buffer;
    std::string_view unread;  ///< of the buffer
    std::string_view piece;   ///< of the buffer, before `unread`
    std::deque<std::string> queue;
    event wake;
    bool is_writing = false;
    bool closed = false;
  };

  static task<std::size_t> read_some(std::shared_ptr<state> self, std::span<char> into) {
    while (!self->closed) {
      const std::string_view bytes = self->next_piece();
      if (!bytes.empty()) {
        const auto size = std::min(bytes.size(), into.size());
        std::copy_n(bytes.data(), size, into.data());
        self->piece.remove_prefix(size);
        co_return size;
      }
      const std::size_t size = co_await read_stream(self);
      if (size == 0) break;
      self->unread = std::string_view(self->buffer).substr(0, size);
    }
    co_return 0;
  }

  /// A connection that breaks has ended: whether the resident has is for others to find out.
  static task<std::size_t> read_stream(std::shared_ptr<state> self) {
    try {
      co_return co_await self->stream->read(self->buffer);
    } catch (const std::system_error& failure) {
      if (!self->closed && is_cancelled(failure.code())) throw;
      self->log.info(std::string("resident: attached stream: ") + failure.what());
    }
    co_return 0;
  }

  static task<void> write_all(std::shared_ptr<state> self) {
    try {
      while (!self->closed) {
        if (self->queue.empty()) {
          co_await self->wake.wait();
          continue;
        }
        std::string bytes = std::move(self->queue.front());
        self->queue.pop_front();
        self->is_writing = true;
        co_await self->stream->write(std::move(bytes));
        self->is_writing = false;
      }
    } catch (const std::system_error& failure) {
      if (!self->closed) self->log.info(std::string("resident: attached stream: ") + failure.what());
      self->close();  // the reader sees the end
    }
  }

  std::shared_ptr<state> state_;
  task_group group_;
};

}  // namespace

std::shared_ptr<resident_channel> make_attached_channel(asio::any_io_executor executor, http::stream_ptr stream,
                                                        logger log) {
  return std::make_shared<attached_channel>(std::move(executor), std::move(stream), std::move(log));
}

}  // namespace berth
