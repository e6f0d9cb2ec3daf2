#include "docker/engine_process.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/event.hpp"
#include "core/wipe.hpp"
#include "docker/attach_frames.hpp"
#include "docker/container_end.hpp"
#include "docker/exec_words.hpp"

#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <system_error>
#include <utility>

namespace berth {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t buffer_size = std::size_t{64} << 10;
constexpr std::size_t most_after_kill = std::size_t{1} << 20;
constexpr std::chrono::milliseconds first_look{2};
constexpr std::chrono::milliseconds slowest_start_look{20};
constexpr std::chrono::milliseconds slowest_look{500};
constexpr auto refusal_takes = 300ms;  // its text, once the daemon says that nothing runs
constexpr auto last_question_takes = 3s;
constexpr int killed_code = 137;

/// One command, shared by its process object and what waits for something of it.
class engine_run final : public engine_listener {
 public:
  engine_run(asio::any_io_executor executor, engine_start where, command what)
      : executor_(executor), where_(std::move(where)), what_(std::move(what)), changed_(executor) {}

  static task<void> start(std::shared_ptr<engine_run> self) {
    const exit_status refused = refuse_unsendable(self->what_);
    if (refused.reason() == end_reason::start_failed) co_return self->fail(refused);
    try {
      auto creating =
          container_exec::create(self->where_.box, exec_request_of(self->what_, self->where_.env, self->where_.user));
      self->program_.emplace(co_await std::move(creating));
      self->stream_ = co_await self->program_->start();
      // Older daemons take a size only now, and keep whoever asks waiting if it does not begin.
      if (self->what_.terminal()) self->aside(resize_now(self, *self->what_.terminal()));
      co_await await_beginning(self);
    } catch (const error& failure) {
      if (is_cancelled(failure.code())) throw;
      if (failure.code() == errc::invalid_argument) co_return self->fail(exec_refusal(self->what_, failure.remote()));
      self->lose(failure.message());
    }
  }

  static task<process_event> next(std::shared_ptr<engine_run> self, clock::time_point until) {
    for (;;) {
      const bool look = until != clock::time_point::max() && clock::now() >= until;
      if (auto piece = self->take_piece()) co_return std::move(*piece);
      if (!self->pending_.empty()) {
        process_event first = std::move(self->pending_.front());
        self->pending_.pop_front();
        co_return first;
      }
      if (self->killed_ && !self->over_) {
        co_await end_killed(self);
        continue;
      }
      if (look && !self->may_read()) co_return nothing_yet();
      if (self->stream_ended_ || self->over_) {
        co_await look_for_end(self, until);
      } else {
        const auto look_next = look ? clock::time_point::max() : until;
        co_await read_more(self, look_next);
      }
    }
  }

  static task<void> write(std::shared_ptr<engine_run> self, std::string bytes) {
    const wiped_after here(bytes);
    if (!self->writable_ || self->over_)
      throw std::system_error(std::make_error_code(std::errc::broken_pipe), "standard input");
    try {
      auto writing = self->stream_->write(std::move(bytes));
      co_await std::move(writing);
      co_return;
    } catch (const std::system_error& failure) {
      if (is_cancelled(failure.code()) && !self->closed_) throw;
    }
    self->writable_ = false;
    throw std::system_error(std::make_error_code(std::errc::broken_pipe), "standard input");
  }

  void close_stdin(std::shared_ptr<engine_run> self) {
    if (std::exchange(writable_, false) && !over_) aside(end_input(std::move(self)));
  }

  void resize(std::shared_ptr<engine_run> self, terminal_size size) {
    if (!over_) aside(resize_now(std::move(self), size));
  }

  void kill() {
    killed_ = true;
    if (over_) tell_tree({});
    if (!over_ && reading_) close_stream();  // nothing was there to be read
    changed_.notify();
  }

  void on_gone() override {
    if (!over_) lose("the place was destroyed");
    changed_.notify();
  }

  /// The daemon reads on what nobody takes, so that what was left running is neither blocked nor killed.
  void close() noexcept {
    over_ = true;
    close_stream();
  }

  bool is_over() const noexcept { return over_; }

 private:
  /// Errors of the runtime come as output, behind a stream that looks like any other: only the daemon's view of it tells.
  static task<void> await_beginning(std::shared_ptr<engine_run> self) {
    asio::steady_timer timer(self->executor_);
    auto pause = first_look;
    for (;;) {
      auto asking = self->program_->state();
      const std::optional<exec_state> state = co_await std::move(asking);
      if (!state) co_return self->lose("the container was removed, or the daemon was started again");
      self->host_pid_ = state->pid;
      const bool forgets = self->where_.box.engine()->is_podman();
      if (state->code && (state->pid == 0 || forgets)) co_return co_await judge_refusal(self, *state->code, !forgets);
      if (state->pid != 0) break;
      timer.expires_after(pause);
      co_await timer.async_wait(asio::use_awaitable);
      pause = std::min(pause * 2, slowest_start_look);
    }
    begin(self);
  }

  static void begin(const std::shared_ptr<engine_run>& self) {
    const bool closed = self->what_.input_from() == input_kind::closed;
    self->writable_ = !closed;
    if (closed && self->what_.terminal()) self->aside(end_input(self));  // else its first read would wait for ever
  }

  /// It ended without having had a pid, as far as is known.
  static task<void> judge_refusal(std::shared_ptr<engine_run> self, int code, bool is_certain) {
    std::string text;
    const auto until = clock::now() + refusal_takes;
    while (!self->stream_ended_ && clock::now() < until) {
      co_await read_more(self, until);
      while (auto piece = self->next_piece()) {
        text += piece->bytes();
        self->held_.push_back(std::move(*piece));
      }
    }
    if (is_certain || looks_refused(code, text)) {
      self->held_.clear();
      co_return self->fail(exec_refusal(self->what_, text));
    }
    begin(self);
  }

  void fail(exit_status status) {
    over_ = true;
    close_stream();
    pending_.emplace_back(process_exited{std::move(status), {}});
    pending_.emplace_back(streams_ended());
  }

  void lose(const std::string& why) {
    over_ = true;
    close_stream();
    pending_.emplace_back(process_lost{"lost: " + why});
  }

  std::optional<chunk> take_piece() {
    if (held_.empty()) return next_piece();
    chunk first = std::move(held_.front());
    held_.pop_front();
    return first;
  }

  std::optional<chunk> next_piece() {
    if (what_.terminal()) {
      if (unread_.empty()) return std::nullopt;
      return chunk(output_stream::std_out, std::string(std::exchange(unread_, {})));
    }
    std::optional<attach_frames::piece> piece;
    try {
      piece = frames_.next(unread_);
    } catch (const error& failure) {
      unread_ = {};
      lose(failure.message());
    }
    if (!piece) return std::nullopt;
    const bool is_err = piece->from == attach_frames::stream::err && !what_.merges_stderr();
    return chunk(is_err ? output_stream::std_err : output_stream::std_out, std::string(piece->bytes));
  }

  bool may_read() const { return !over_ && !stream_ended_ && !closed_ && !stream_->is_quiet(); }

  void close_stream() noexcept {
    closed_ = true;
    if (stream_) stream_->close();
  }

  static task<void> read_more(std::shared_ptr<engine_run> self, clock::time_point until) {
    self->reading_ = true;
    std::size_t size = 0;
    bool failed = false;
    try {
      auto reading = self->stream_->read(self->buffer_);
      if (until == clock::time_point::max()) {
        size = co_await std::move(reading);
      } else {
        auto bounded = with_deadline(std::move(reading), until - clock::now());
        size = co_await std::move(bounded);
      }
    } catch (const std::system_error& failure) {
      self->reading_ = false;
      if (failure.code() == errc::timeout) co_return;
      if (is_cancelled(failure.code()) && !self->closed_) throw;
      failed = true;
    }
    self->reading_ = false;
    if (self->over_ || self->closed_) co_return;
    self->unread_ = std::string_view(self->buffer_).substr(0, size);
    if (size == 0) self->on_stream_end(failed);
  }

  void on_stream_end(bool failed) {
    stream_ended_ = true;
    next_look_ = clock::now();
    if (failed || !frames_.at_boundary()) return lose("the connection to the command broke; it may run on");
    pending_.emplace_back(streams_ended());
  }

  /// The stream has ended as it should; so has the command, unless it only closed its output.
  static task<void> look_for_end(std::shared_ptr<engine_run> self, clock::time_point until) {
    if (self->over_ || clock::now() < self->next_look_) {
      const auto wake = self->over_ ? until : std::min(until, self->next_look_);
      (void)co_await self->changed_.wait_until(wake);
      if (self->over_ || self->killed_ || clock::now() < self->next_look_) co_return;
    }
    std::string broken;
    std::optional<exec_state> state;
    try {
      auto asking = self->program_->state();
      state = co_await std::move(asking);
    } catch (const error& failure) {
      if (is_cancelled(failure.code())) throw;
      broken = failure.message();
    }
    if (!broken.empty()) co_return self->lose(broken);
    if (!state) co_return self->lose("the container was removed, or the daemon was started again");
    if (state->code) co_return co_await finish(self, *state->code);
    self->next_look_ = clock::now() + self->look_pause_;
    self->look_pause_ = std::min(self->look_pause_ * 2, slowest_look);
  }

  /// A container that ends takes its commands along, by the same signal that they may have had from elsewhere.
  static task<void> finish(std::shared_ptr<engine_run> self, int code) {
    if (code == killed_code) {
      const bool ended = co_await is_known_to_have_ended(self->where_.box);
      if (ended) co_return self->lose("the container ended");
    }
    self->over_ = true;
    self->close_stream();
    self->pending_.emplace_back(process_exited{exit_status::exited(code), {}});
    if (self->killed_) self->tell_tree({});
  }

  /// What came is kept, as far as it is here; the command itself is out of reach.
  static task<void> end_killed(std::shared_ptr<engine_run> self) {
    if (self->may_read() && self->kept_after_kill_ < most_after_kill) {
      co_await read_more(self, clock::time_point::max());
      self->kept_after_kill_ += self->unread_.size();
      co_return;
    }
    self->writable_ = false;
    // Asked before the stream is closed: of what ends then the daemon says nothing for 2 s.
    std::optional<exec_state> state;
    try {
      auto asking = self->program_->state();
      auto bounded = with_deadline(std::move(asking), last_question_takes);
      state = co_await std::move(bounded);
    } catch (const error& failure) {
      if (is_cancelled(failure.code())) throw;
    }
    self->close_stream();
    if (self->over_) co_return;
    if (!std::exchange(self->stream_ended_, true)) self->pending_.emplace_back(streams_ended());
    if (state && state->code) co_return co_await finish(self, *state->code);
    self->over_ = true;
    exit_status status(end_reason::unknown, 125, 0, "the Engine cannot end a command: it may run on");
    self->pending_.emplace_back(process_exited{std::move(status), {}});
    self->tell_tree({survivor{self->host_pid_, self->what_.argv().front()}});
  }

  void tell_tree(std::vector<survivor> left) {
    if (!std::exchange(tree_told_, true)) pending_.emplace_back(tree_ended{std::move(left)});
  }

  void aside(task<void> work) {
    if (const auto group = where_.group.lock()) group->spawn(quietly(std::move(work)));
  }
  static task<void> quietly(task<void> work) {
    try {
      co_await std::move(work);
    } catch (const std::system_error& failure) {
      if (is_cancelled(failure.code())) throw;  // else the end of the stream tells
    }
  }

  static task<void> end_input(std::shared_ptr<engine_run> self) {
    constexpr const char* end_of_file = "\x04";
    if (self->what_.terminal()) {
      // Half a connection to a terminal would end its output.
      auto typing = self->stream_->write(end_of_file);
      co_await std::move(typing);
    } else {
      co_await self->stream_->shutdown_write();
    }
  }

  static task<void> resize_now(std::shared_ptr<engine_run> self, terminal_size size) {
    auto asking = self->program_->resize(size);
    co_await std::move(asking);
  }

  asio::any_io_executor executor_;
  engine_start where_;
  command what_;
  event changed_;
  std::optional<container_exec> program_;
  http::stream_ptr stream_;
  attach_frames frames_;
  std::string buffer_ = std::string(buffer_size, '\0');
  std::string_view unread_;
  std::deque<chunk> held_;  ///< read before it was known that it runs
  std::deque<process_event> pending_;
  std::int64_t host_pid_ = 0;
  clock::time_point next_look_;
  std::chrono::milliseconds look_pause_ = first_look;
  bool writable_ = false;
  bool reading_ = false;
  bool stream_ended_ = false;
  bool killed_ = false;
  bool closed_ = false;
  bool tree_told_ = false;
  std::size_t kept_after_kill_ = 0;
  bool over_ = false;  ///< all is known that will be
};

class engine_process final : public backend_process {
 public:
  explicit engine_process(std::shared_ptr<engine_run> run) : run_(std::move(run)) {}
  ~engine_process() override { run_->close(); }

  std::int64_t pid() const noexcept override { return 0; }  // the daemon knows only its host's
  bool has_exited() const noexcept override { return run_->is_over(); }
  bool is_over() const noexcept override { return run_->is_over(); }
  task<process_event> next(time_point until) override { return engine_run::next(run_, until); }
  task<void> write(std::string bytes) override { return engine_run::write(run_, std::move(bytes)); }
  void close_stdin() override { run_->close_stdin(run_); }
  void signal(int) override {
    if (!run_->is_over()) throw error(make_error_code(errc::unsupported), "the Engine cannot signal a command");
  }
  void resize(terminal_size size) override { run_->resize(run_, size); }
  void kill(std::chrono::milliseconds) override { run_->kill(); }
  void abandon_streams() override { run_->close(); }

 private:
  std::shared_ptr<engine_run> run_;
};

}  // namespace

task<std::unique_ptr<backend_process>> start_by_engine(asio::any_io_executor executor, engine_start where,
                                                       command what) {
  if (what.ends_leftovers())
    throw error(make_error_code(errc::unsupported), "the Engine cannot end what a command leaves running");
  const auto listeners = where.listeners;
  const auto run = std::make_shared<engine_run>(std::move(executor), std::move(where), std::move(what));
  std::erase_if(*listeners, [](const auto& each) { return each.expired(); });
  listeners->push_back(run);
  // From here on a cancellation ends the stream.
  std::unique_ptr<backend_process> process = std::make_unique<engine_process>(run);
  co_await engine_run::start(run);
  co_return process;
}

}  // namespace berth
