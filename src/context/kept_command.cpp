#include "context/kept_command.hpp"

#include "core/deadline.hpp"
#include "core/wipe.hpp"

#include <berth/error.hpp>

#include <asio/post.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <csignal>
#include <system_error>
#include <utility>

namespace berth {
namespace {

/// After so many bytes others have their turn, however fast the command prints.
constexpr std::size_t fair_share = std::size_t{256} << 10;
constexpr std::size_t scrollback_piece = std::size_t{64} << 10;
constexpr std::chrono::seconds spills_take{10};

exit_status killed() { return {end_reason::cancelled, 128 + SIGKILL, SIGKILL}; }

}  // namespace

struct kept_command::attachment {
  explicit attachment(data_function function) : call(std::move(function)) {}
  data_function call;
};

/// A callback may hold the terminal that it is attached to: whatever becomes of the pump, they part here.
class kept_command::end_of_pump {
 public:
  explicit end_of_pump(kept_command& of) : of_(of) {}
  end_of_pump(const end_of_pump&) = delete;
  end_of_pump& operator=(const end_of_pump&) = delete;
  ~end_of_pump() { const auto last = std::move(of_.attached_); }

 private:
  kept_command& of_;
};

kept_command::kept_command(asio::any_io_executor executor, std::string id, const command& rules,
                           std::shared_ptr<process_core> core)
    : executor_(std::move(executor)),
      id_(std::move(id)),
      core_(std::move(core)),
      out_(rules.output_limit()),
      err_(rules.output_limit()),
      size_(rules.terminal().value_or(terminal_size())),
      changed_(executor_) {}

kept_command::~kept_command() { core_->drop(); }

const std::string& kept_command::spill_error() const noexcept {
  static const std::string none;
  if (!spills_) return none;
  if (!spills_->out->failure().empty() || !spills_->err) return spills_->out->failure();
  return spills_->err->failure();
}

bool kept_command::never_ran() const noexcept {
  const auto& seen = core_->status();
  return seen && seen->reason() == end_reason::start_failed;
}

// ---- the pump -------------------------------------------------------------------------------------------------------

task<void> kept_command::pump(std::shared_ptr<kept_command> self) {
  const end_of_pump end(*self);
  std::exception_ptr failure;
  try {
    for (;;) {
      const auto piece = co_await process_core::next(self->core_);
      if (!piece) break;
      const bool due = self->take(*piece);
      if (due) co_await flush(self);
      if (self->taken_ < fair_share) continue;
      self->taken_ = 0;
      co_await asio::post(self->executor_, asio::use_awaitable);
    }
  } catch (...) {
    failure = std::current_exception();
  }
  // Its status is told when the spills are closed.
  std::optional<exit_status> given_up;
  if (failure) given_up = self->give_up(failure);
  if (self->spills_) {
    try {
      co_await hold_cancellation();
      co_await shielded(spills_take, close_spills(self));
    } catch (const std::system_error&) {
      // A disk that does not answer: what could be written is there.
    }
  }
  self->finish(given_up ? std::move(*given_up) : self->seen_status());
}

bool kept_command::take(const chunk& piece) {
  const bool is_out = piece.stream() == output_stream::std_out;
  taken_ += piece.bytes().size();
  (is_out ? out_ : err_).append(piece.bytes());
  changed_.notify();
  if (is_out && attached_) show(std::shared_ptr<attachment>(attached_), piece.bytes());
  if (!spills_ || piece.is_hint()) return false;
  return (is_out ? spills_->out : spills_->err)->add(piece.bytes());
}

task<void> kept_command::flush(std::shared_ptr<kept_command> self) {
  co_await self->spills_->out->flush();
  if (self->spills_->err) co_await self->spills_->err->flush();
}

task<void> kept_command::close_spills(std::shared_ptr<kept_command> self) {
  co_await self->spills_->out->close();
  if (self->spills_->err) co_await self->spills_->err->close();
}

exit_status kept_command::give_up(const std::exception_ptr& failure) {
  const run_state& state = core_->state();
  std::optional<exit_status> own;
  if (state.exited()) own = state.status();
  core_->drop();
  if (own) return *own;
  try {
    std::rethrow_exception(failure);
  } catch (const std::system_error& caught) {
    return is_cancelled(caught.code()) ? killed() : exit_status::lost(caught.what());
  } catch (const std::exception& caught) {
    return exit_status::lost(caught.what());
  } catch (...) {
    return exit_status::lost("the backend failed");
  }
}

void kept_command::place_ends() {
  if (status_) return;
  const run_state& state = core_->state();
  place_ended_ = std::make_unique<exit_status>(state.exited() ? state.status() : killed());
}

exit_status kept_command::seen_status() const {
  const exit_status seen = core_->status().value_or(exit_status());
  if (!place_ended_) return seen;
  const bool by_destroy = seen.reason() == end_reason::signaled && seen.signal() == SIGKILL;
  const bool unsure = seen.reason() == end_reason::lost || seen.reason() == end_reason::unknown;
  return by_destroy || unsure ? *place_ended_ : seen;
}

void kept_command::finish(exit_status status) {
  ended_at_ = clock::now();
  status_ = std::move(status);
  place_ended_.reset();
  out_.end();
  err_.end();
  changed_.notify();
}

// ---- readers --------------------------------------------------------------------------------------------------------

task<log_piece> kept_command::follow(std::shared_ptr<kept_command> self, output_stream stream, std::uint64_t offset,
                                     std::size_t max) {
  for (;;) {
    log_piece piece = self->log(stream).read(offset, max);
    if (!piece.bytes().empty() || piece.ended() || max == 0) co_return piece;
    co_await self->changed_.wait();
  }
}

task<exit_status> kept_command::wait(std::shared_ptr<kept_command> self) {
  while (!self->status_) co_await self->changed_.wait();
  co_return *self->status_;
}

task<exit_status> kept_command::kill(std::shared_ptr<kept_command> self) {
  (void)co_await process_core::kill(self->core_);
  co_return co_await wait(self);
}

task<std::vector<std::uint16_t>> kept_command::ports(std::shared_ptr<kept_command> self) {
  return process_core::ports(self->core_);
}

void kept_command::forget() {
  if (!status_) throw error(errc::conflict, "background '" + id_ + "' runs: kill it first");
  forgotten_ = true;
}

// ---- writers --------------------------------------------------------------------------------------------------------

/// A place in the queue of those who write.
class kept_command::turn {
 public:
  explicit turn(kept_command& of) : of_(of), at_(of.writers_.insert(of.writers_.end(), this)) {}
  turn(const turn&) = delete;
  turn& operator=(const turn&) = delete;
  ~turn() {
    of_.writers_.erase(at_);
    if (of_.next_turn_) of_.next_turn_->notify();
  }

  bool has_come() const { return of_.writers_.front() == this; }

 private:
  kept_command& of_;
  std::list<const turn*>::iterator at_;
};

event& kept_command::next_turn() {
  if (!next_turn_) next_turn_.emplace(executor_);
  return *next_turn_;
}

task<void> kept_command::write(std::shared_ptr<kept_command> self, std::string bytes) {
  const wiped_after here(bytes);
  const turn mine(*self);
  while (!mine.has_come()) co_await self->next_turn().wait();
  co_await process_core::write(self->core_, std::move(bytes));
}

task<void> kept_command::close_stdin(std::shared_ptr<kept_command> self) {
  const turn mine(*self);
  while (!mine.has_come()) co_await self->next_turn().wait();
  co_await process_core::close_stdin(self->core_);
}

// ---- terminals ------------------------------------------------------------------------------------------------------

void kept_command::resize(terminal_size size) {
  core_->resize(size);
  size_ = size;
}

std::uint64_t kept_command::attach(std::uint64_t offset, data_function callback) {
  // What was attached may be the very one that calls; it is let go of at the end.
  const auto before = std::move(attached_);
  const std::uint64_t first = std::clamp(offset, out_.begin(), out_.total());
  if (!callback) return first;
  const auto mine = std::make_shared<attachment>(std::move(callback));
  attached_ = mine;
  std::uint64_t at = first;
  while (attached_ == mine && at < out_.total()) {
    const log_piece piece = out_.read(at, scrollback_piece);
    at = piece.next();
    show(mine, piece.bytes());
  }
  if (status_ && attached_ == mine) attached_.reset();
  return first;
}

void kept_command::show(const std::shared_ptr<attachment>& to, std::string_view bytes) {
  try {
    to->call(bytes);
  } catch (...) {
    if (attached_ == to) attached_.reset();
  }
}

}  // namespace berth
