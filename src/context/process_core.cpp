#include "context/process_core.hpp"

#include "core/wipe.hpp"

#include <berth/error.hpp>

#include <algorithm>
#include <csignal>
#include <exception>
#include <system_error>
#include <utility>

namespace berth {
namespace {

/// A kill() that nobody reads beside keeps so much output; then the command blocks, until its KILL has come.
constexpr std::size_t held_limit = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kill_takes{50};
/// How often a kill() that keeps enough looks whether all is over.
constexpr std::chrono::milliseconds look_every{10};

[[noreturn]] void throw_broken_pipe() {
  throw error(std::make_error_code(std::errc::broken_pipe), "process: standard input is closed");
}

}  // namespace

/// While it lives the backend's process must not be destroyed: something is awaited on it.
class process_core::use {
 public:
  use(process_core& of, bool& flag) : of_(of), flag_(flag) {
    ++of_.uses_;
    flag_ = true;
  }
  use(const use&) = delete;
  use& operator=(const use&) = delete;
  ~use() {
    --of_.uses_;
    flag_ = false;
    if (of_.changed_) of_.changed_->notify();
  }

 private:
  process_core& of_;
  bool& flag_;
};

class process_core::reader {
 public:
  explicit reader(process_core& of) : of_(of) {
    if (of_.reading_) throw error(errc::conflict, "process: another next() or wait() is pending");
    of_.reading_ = true;
  }
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  ~reader() {
    of_.reading_ = false;
    if (of_.changed_) of_.changed_->notify();
  }

 private:
  process_core& of_;
};

std::shared_ptr<process_core> process_core::make(asio::any_io_executor executor,
                                                 std::unique_ptr<backend_process> backend, const command& what,
                                                 clock::time_point began, std::optional<std::string> input) {
  auto core = std::make_shared<process_core>(std::move(executor), std::move(backend), what, began);
  core->start_deadline();
  if (input) {
    core->feeder_.emplace(core->executor_);
    core->feeder_->spawn(feed(core, std::move(*input)));
  }
  return core;
}

process_core::process_core(asio::any_io_executor executor, std::unique_ptr<backend_process> backend,
                           const command& what, clock::time_point began)
    : executor_(std::move(executor)),
      backend_(std::move(backend)),
      pid_(backend_->pid()),
      input_(what.input_from()),
      has_terminal_(what.terminal().has_value()),
      hint_stream_(has_terminal_ || what.merges_stderr() ? output_stream::std_out : output_stream::std_err),
      hints_(what.hints()),
      grace_(what.grace()),
      state_(what, began) {}

// ---- reading --------------------------------------------------------------------------------------------------------

task<void> process_core::settle(std::shared_ptr<process_core> self) {
  const bool never_ran = self->pid_ == 0 && self->backend_->is_over();
  while (never_ran && !self->state_.finished() && self->held_.empty()) {
    auto piece = co_await step(self);
    if (piece) self->hold(std::move(*piece));
  }
}

task<std::optional<chunk>> process_core::next(std::shared_ptr<process_core> self) {
  const reader here(*self);
  for (;;) {
    if (auto piece = self->take_held()) co_return piece;
    if (!self->backend_ || (self->state_.finished() && !self->denial_is_due())) co_return std::nullopt;
    if (self->pumping_) {
      co_await self->changed().wait();
      continue;
    }
    auto stepping = self->state_.finished() ? ask_what_was_denied(self) : step(self);
    auto piece = co_await std::move(stepping);
    if (piece) co_return piece;
  }
}

task<exit_status> process_core::wait(std::shared_ptr<process_core> self) {
  for (;;) {
    const auto piece = co_await next(self);
    if (!piece) co_return *self->status_;
  }
}

task<std::optional<chunk>> process_core::step(std::shared_ptr<process_core> self) {
  const use here(*self, self->pumping_);
  const auto began = clock::now();
  const auto until = self->state_.wait_limit(began);
  std::exception_ptr failure;
  process_event happened;
  try {
    happened = co_await self->backend_->next(until);
  } catch (...) {
    failure = std::current_exception();
  }
  self->state_.waited(clock::now() - began);
  if (failure) std::rethrow_exception(failure);
  co_return self->take(std::move(happened));
}

std::optional<chunk> process_core::take(process_event happened) {
  const bool before = state_.finished();
  auto piece = state_.take(std::move(happened), clock::now());
  if (piece && piece->stream() == hint_stream_) is_in_line_ = piece->bytes().back() != '\n';
  if (state_.idle_passed()) start_kill(end_reason::idle_timed_out, grace_);
  if (state_.finished() && !before) finish();
  return piece;
}

void process_core::finish() {
  status_ = state_.status();
  if (deadline_) deadline_->cancel();
  if (feeder_) feeder_->cancel();
  // A write that waits still has nobody left to wait for, even where something holds the other end.
  if (writing_ && !has_terminal_) backend_->close_stdin();
  if (state_.streams_open()) backend_->abandon_streams();
}

bool process_core::denial_is_due() const {
  const end_reason reason = state_.status().reason();
  return !knows_denial_ && reason != end_reason::start_failed && reason != end_reason::lost;
}

task<std::optional<chunk>> process_core::ask_what_was_denied(std::shared_ptr<process_core> self) {
  const use here(*self, self->pumping_);
  try {
    auto asking = self->backend_->denied(self->state_.status());
    self->denied_ = co_await std::move(asking);
  } catch (const std::system_error& caught) {
    if (is_cancelled(caught.code())) throw;  // it is asked again
  }
  self->knows_denial_ = true;
  if (!self->denied_ || !self->hints_) co_return std::nullopt;
  co_return self->hint();
}

chunk process_core::hint() const {
  const std::string_view end = has_terminal_ ? "\r\n" : "\n";
  std::string line(is_in_line_ ? end : "");
  line.append(denied_->line).append(end);
  return chunk::hint(hint_stream_, std::move(line));
}

std::optional<chunk> process_core::take_held() {
  if (held_.empty()) return std::nullopt;
  std::optional<chunk> piece(std::move(held_.front()));
  held_.pop_front();
  held_bytes_ -= piece->bytes().size();
  return piece;
}

void process_core::hold(chunk piece) {
  held_bytes_ += piece.bytes().size();
  held_.push_back(std::move(piece));
}

event& process_core::changed() {
  if (!changed_) changed_.emplace(executor_);
  return *changed_;
}

// ---- ending ---------------------------------------------------------------------------------------------------------

void process_core::start_deadline() {
  if (!state_.deadline()) return;
  deadline_.emplace(executor_, *state_.deadline());
  deadline_->async_wait([weak = weak_from_this()](std::error_code failed) {
    const auto self = weak.lock();
    // During the drain the reader looks at the deadline itself.
    if (!failed && self && self->backend_ && !self->has_ended()) self->start_kill(end_reason::timed_out, self->grace_);
  });
}

bool process_core::has_ended() const { return state_.exited() || backend_->has_exited(); }

void process_core::start_kill(end_reason reason, std::chrono::milliseconds grace) {
  const auto now = clock::now();
  state_.kill_sent(reason, grace, now, has_ended());
  kill_due_ = now + std::min<std::chrono::milliseconds>(grace, std::chrono::hours(24)) + kill_takes;
  backend_->kill(grace);
}

bool process_core::holds_enough(clock::time_point now) const {
  return held_bytes_ >= held_limit && now < kill_due_ && !backend_->is_over();
}

task<exit_status> process_core::kill(std::shared_ptr<process_core> self) {
  if (self->backend_ && !self->state_.tree_gone()) self->start_kill(end_reason::cancelled, self->grace_);
  while (self->backend_ && !(self->state_.exited() && self->state_.tree_gone())) {
    if (self->pumping_) {
      co_await self->changed().wait();
      continue;
    }
    if (self->holds_enough(clock::now())) {
      (void)co_await self->changed().wait_until(std::min(self->kill_due_, clock::now() + look_every));
      continue;
    }
    auto piece = co_await step(self);
    if (piece) self->hold(std::move(*piece));
  }
  if (!self->status_) self->status_ = self->state_.status();
  co_return *self->status_;
}

void process_core::signal(int signo) {
  if (signo < 1 || signo > 64) throw error(errc::invalid_argument, "process: no such signal: " + std::to_string(signo));
  if (backend_ && !has_ended()) backend_->signal(signo);
}

void process_core::resize(terminal_size size) {
  if (!has_terminal_) throw error(errc::invalid_argument, "process: the command has no terminal");
  require_possible(size);
  if (backend_ && !has_ended()) backend_->resize(size);
}

task<std::vector<std::uint16_t>> process_core::ports(std::shared_ptr<process_core> self) {
  while (self->asking_) co_await self->changed().wait();
  if (!self->backend_) co_return std::vector<std::uint16_t>();
  const use here(*self, self->asking_);
  auto asked = self->backend_->ports();
  co_return co_await std::move(asked);
}

void process_core::cancel() {
  if (!backend_ || state_.finished()) return;
  if (has_ended()) {
    state_.stop_draining(clock::now());
  } else {
    start_kill(end_reason::cancelled, grace_);
  }
}

process_core::~process_core() { release(); }

void process_core::release() {
  // What it left running goes on writing.
  if (backend_ && state_.exited() && !state_.finished()) backend_->abandon_streams();
  backend_.reset();
}

void process_core::drop() {
  if (!backend_) return;
  if (deadline_) deadline_->cancel();
  if (feeder_) feeder_->cancel();
  if (uses_ > 0) {
    // The last of those who await it destroys it.
    if (!has_ended()) start_kill(end_reason::cancelled, std::chrono::milliseconds(0));
    return;
  }
  if (!status_) status_ = exit_status(end_reason::cancelled, 128 + SIGKILL, SIGKILL);
  release();
}

// ---- standard input -------------------------------------------------------------------------------------------------

void process_core::require_stream_input() const {
  if (input_ != input_kind::stream) throw error(errc::invalid_argument, "process: the command has no input_stream");
}

task<void> process_core::write(std::shared_ptr<process_core> self, std::string bytes) {
  const wiped_after here(bytes);
  self->require_stream_input();
  if (self->writing_) throw error(errc::conflict, "process: another write is pending");
  if (self->stdin_closed_) throw_broken_pipe();
  co_await send(self, std::move(bytes));
}

task<void> process_core::send(std::shared_ptr<process_core> self, std::string bytes) {
  const wiped_after gone(bytes);
  if (!self->backend_ || self->state_.exited()) throw_broken_pipe();
  if (bytes.empty()) co_return;
  const use here(*self, self->writing_);
  std::exception_ptr failure;
  try {
    co_await self->backend_->write(std::move(bytes));
  } catch (...) {
    failure = std::current_exception();
  }
  if (self->stdin_closed_) self->backend_->close_stdin();
  if (failure) std::rethrow_exception(failure);
}

task<void> process_core::close_stdin(std::shared_ptr<process_core> self) {
  self->require_stream_input();
  if (std::exchange(self->stdin_closed_, true) || !self->backend_) co_return;
  // A write under way closes it behind itself.
  if (!self->writing_) self->backend_->close_stdin();
}

task<void> process_core::feed(std::shared_ptr<process_core> self, std::string input) {
  try {
    co_await send(self, std::move(input));
  } catch (const std::system_error&) {
    // It ended or closed its input without reading all, which is its own affair; a lost place shows in next().
  }
  if (self->backend_) self->backend_->close_stdin();
}

}  // namespace berth
