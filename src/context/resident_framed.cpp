/// Commands whose bytes travel in frames, with credit for each stream.
#include "context/resident_command.hpp"
#include "core/wipe.hpp"

#include <algorithm>
#include <array>
#include <system_error>

namespace berth {
namespace {

// What was consumed is granted again in steps, not by the byte.
constexpr std::size_t grant_step = wire::initial_credit / 4;

struct output_queue {
  std::deque<std::string> chunks;
  bool open = true;
  std::size_t consumed = 0;  ///< and not granted again yet
};

class framed_command final : public resident_command {
 public:
  framed_command(std::shared_ptr<resident_session> session, start_request request)
      : resident_command(std::move(session), std::move(request)), can_write_(resident_command::session().executor()) {
    out_[1].open = !merges();
    writable_ = has_input();
  }

  task<void> write(std::string bytes) override {
    auto self = std::static_pointer_cast<framed_command>(shared_from_this());
    return write_all(std::move(self), std::move(bytes));
  }

  void close_stdin() override {
    if (!writable_) return;
    writable_ = false;
    if (!lost()) session().send(make_frame(wire::frame_type::input_end, id()));
    can_write_.notify();
  }

  void resize(terminal_size size) override {
    const wire::resize fields{static_cast<std::uint32_t>(size.columns()), static_cast<std::uint32_t>(size.rows())};
    std::string payload;
    fields.put(payload);
    if (has_terminal() && !lost())
      session().send(make_frame(wire::frame_type::resize, id(), wire::stream::in, payload));
  }

  void abandon_streams() override {
    const bool open = out_[0].open || out_[1].open;
    for (output_queue& queue : out_) queue = {{}, false, 0};
    if (has_terminal()) end_input();  // it is given back whole, as a master that was handed over is
    if (open && !lost()) session().send(make_frame(wire::frame_type::abandon, id()));
  }

 protected:
  bool take_streams(fd_batch) override { return true; }

  void on_stream_frame(const wire::header& header, std::string_view payload) override {
    const auto which = header.stream == static_cast<std::uint16_t>(wire::stream::err) ? 1 : 0;
    output_queue& queue = out_[which];
    std::uint64_t credit = 0;
    switch (header.type) {
      case wire::frame_type::output:
        if (queue.open && !payload.empty()) queue.chunks.emplace_back(payload);
        break;
      case wire::frame_type::output_end:
        queue.open = false;
        break;
      case wire::frame_type::input_closed:
        end_input();
        break;
      case wire::frame_type::credit:
        if (wire::get_number(payload, credit)) input_credit_ += credit;
        can_write_.notify();
        break;
      default:
        break;
    }
  }

  std::optional<chunk> take_chunk(bool) override {
    for (std::size_t turn = 0; turn < out_.size(); ++turn) {
      const std::size_t which = (last_ + 1 + turn) % out_.size();
      output_queue& queue = out_[which];
      if (queue.chunks.empty()) continue;
      last_ = which;
      std::string bytes = std::move(queue.chunks.front());
      queue.chunks.pop_front();
      grant(which, bytes.size());
      return chunk(which == 0 ? output_stream::std_out : output_stream::std_err, std::move(bytes));
    }
    if (lost()) out_[0].open = out_[1].open = false;
    return std::nullopt;
  }

  bool streams_done() const override {
    return std::all_of(out_.begin(), out_.end(),
                       [](const output_queue& queue) { return !queue.open && queue.chunks.empty(); });
  }

  void close_streams() override {
    for (output_queue& queue : out_) queue = {{}, false, 0};
    end_input();
  }

  void wake_writers() override { can_write_.notify(); }

 private:
  void grant(std::size_t which, std::size_t bytes) {
    output_queue& queue = out_[which];
    queue.consumed += bytes;
    if (!queue.open || queue.consumed < grant_step) return;
    const auto stream = which == 0 ? wire::stream::out : wire::stream::err;
    session().send(make_number_frame(wire::frame_type::credit, id(), std::exchange(queue.consumed, 0), stream));
  }

  void end_input() {
    writable_ = false;
    can_write_.notify();
  }

  static task<void> write_all(std::shared_ptr<framed_command> self, std::string bytes) {
    const wiped_after here(bytes);  // it may be a secret
    std::size_t done = 0;
    while (done < bytes.size()) {
      if (!self->writable_ || self->lost())
        throw std::system_error(std::make_error_code(std::errc::broken_pipe), "standard input");
      const std::size_t part = std::min({bytes.size() - done, std::size_t{wire::max_data}, self->input_credit_});
      if (part == 0) {
        co_await self->can_write_.wait();
        continue;
      }
      const std::string_view piece(bytes.data() + done, part);
      self->session().send(make_frame(wire::frame_type::input, self->id(), wire::stream::in, piece));
      self->input_credit_ -= part;
      done += part;
    }
  }

  std::array<output_queue, 2> out_;
  std::size_t last_ = 1;
  bool writable_ = false;
  std::size_t input_credit_ = wire::initial_credit;
  event can_write_;
};

}  // namespace

std::shared_ptr<resident_command> make_framed_command(std::shared_ptr<resident_session> session,
                                                      start_request request) {
  return std::make_shared<framed_command>(std::move(session), std::move(request));
}

}  // namespace berth
