#include "context/resident_command.hpp"

#include "berth/error.hpp"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <utility>

namespace berth {
namespace {

/// From the KILL to the answer, where something is known to keep the resident from it.
constexpr std::chrono::milliseconds answer_takes{1000};

/// Without a word of the resident that the output is at its end.
constexpr std::chrono::seconds end_takes{10};
constexpr std::chrono::milliseconds look_again{50};

exit_status status_of(const wire::exited& end) {
  const int raw = static_cast<int>(end.wait_status);
  exit_status status = exit_status::exited(WEXITSTATUS(raw));
  if (WIFSIGNALED(raw)) status = exit_status::signaled(WTERMSIG(raw));
  const bool oom = (end.cgroup_events & wire::cgroup_oom_kill) != 0;
  // A shell reports the signal of what it ran.
  if (oom && !status.ok() && status.code() == 128 + SIGKILL) status.limit(limit_kind::memory);
  if (oom && status.signal() == SIGKILL) status = exit_status(end_reason::oom_killed, status.code(), SIGKILL);
  // A program that gets along with fewer processes has not ended by that.
  const bool refused = (end.cgroup_events & wire::cgroup_fork_refused) != 0;
  if (refused && !status.ok()) status.limit(limit_kind::processes);
  return status;
}

}  // namespace

resident_command::resident_command(std::shared_ptr<resident_session> session, start_request request)
    : session_(std::move(session)), request_(std::move(request)), changed_(session_->executor()) {}

void resident_command::begin() {
  if (!request_.fits()) return fail(request_.failure(wire::start_step::request, E2BIG));
  const std::size_t fds = request_.fds();
  if (fds > 0 && !session_->inbox().reserve.expect(fds))
    return fail(request_.failure(wire::start_step::resources, errno));
  expected_fds_ = fds;
  id_ = session_->add(shared_from_this());
  session_->set_busy(id_, true);
  session_->send(request_.frame(id_));
}

task<process_event> resident_command::next(std::shared_ptr<resident_command> self, time_point until) {
  for (;;) {
    const auto now = std::chrono::steady_clock::now();
    const bool look = until != time_point::max() && now >= until;
    if (self->is_unreachable() && now >= self->give_up_) self->on_lost("lost: " + self->session_->obstacle());
    auto there = self->take(look);
    if (there) co_return std::move(*there);
    if (look && self->may_bring_output(now)) {
      const bool heard = co_await self->changed_.wait_until(now + look_again);
      if (!heard) co_return chunk(output_stream::std_out, std::string());  // it is not quiet
      continue;
    }
    if (look || std::exchange(self->plans_changed_, false)) co_return nothing_yet();
    self->arm();
    const auto wake = self->is_unreachable() ? std::min(until, self->give_up_) : until;
    (void)co_await self->changed_.wait_until(wake);
  }
}

/// Over a connection that is slow, or was cut, silence does not tell that the output is at its end for now: the resident does. It
/// answers in order, and twice, since it may have waited for room before it read the last of a pipe.
bool resident_command::may_bring_output(time_point now) {
  constexpr int needed = 2;
  if (!session_->leased() || !exited_ || lost_ || failed_ || streams_done() || answers_ >= needed) return false;
  if (question_ != 0 && session_->answered() >= question_) {
    question_ = 0;
    if (++answers_ >= needed) return false;
  }
  if (question_ == 0) {
    question_ = session_->ask();
    asked_at_ = now;
  }
  if (now - std::max(asked_at_, session_->last_heard()) > end_takes)
    on_lost("lost: the end of its output did not come");
  return true;
}

bool resident_command::is_unreachable() const noexcept {
  return started_ && kill_asked_ && !lost_ && !session_->obstacle().empty();
}

/// What ran out of memory has said its last word; elsewhere a loss is no end of the output.
bool resident_command::has_no_more_output() const { return streams_done() || (lost_ && session_->ran_out_of_memory()); }

std::optional<process_event> resident_command::take(bool look) {
  if (!pending_.empty()) {
    process_event first = std::move(pending_.front());
    pending_.pop_front();
    return first;
  }
  if (streams_told_ && !lost_) return std::nullopt;
  if (auto piece = take_chunk(look || lost_)) {
    question_ = 0;
    answers_ = 0;
    return process_event(std::move(*piece));
  }
  if (!streams_told_ && has_no_more_output()) {
    streams_told_ = true;
    return process_event(streams_ended());
  }
  if (lost_ && !lost_told_) {
    lost_told_ = true;
    return process_event(process_lost{cause_});
  }
  return std::nullopt;
}

void resident_command::signal(int signo) {
  if (started_ && !exited_)
    session_->send(make_number_frame(wire::frame_type::signal, id_, static_cast<std::uint64_t>(signo)));
}

void resident_command::kill(std::chrono::milliseconds grace) {
  if (failed_ || lost_ || id_ == 0) return;
  kill_asked_ = true;
  note_busy();
  const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(grace.count(), 0));
  constexpr std::chrono::milliseconds longest = std::chrono::hours(24);
  give_up_ = std::min(give_up_, std::chrono::steady_clock::now() + std::min(grace, longest) + answer_takes);
  session_->send(make_number_frame(wire::frame_type::kill, id_, time));
  plans_changed_ = true;
  changed_.notify();
}

task<std::vector<std::uint16_t>> resident_command::ports(std::shared_ptr<resident_command> self) {
  if (self->failed_) co_return std::vector<std::uint16_t>();
  const std::uint64_t mine = self->ports_asked_ + 1;
  if (!self->lost_) {
    self->ports_asked_ = mine;
    self->note_busy();
    self->session_->send(make_frame(wire::frame_type::ports, self->id_));
  }
  while (self->ports_answered_ < mine && !self->lost_) co_await self->changed_.wait();
  if (self->ports_answered_ < mine) throw error(make_error_code(errc::lost), self->cause_);
  co_return self->ports_;
}

// Something is due from it: the watchdog watches.
void resident_command::note_busy() {
  session_->set_busy(id_, !failed_ && (!exited_ || kill_asked_ || ports_answered_ < ports_asked_));
}

bool resident_command::needs_kill() const noexcept {
  return !failed_ && !lost_ && id_ != 0 && (!exited_ || kill_asked_);
}

void resident_command::release() {
  const bool killing = needs_kill();
  if (!killing && !streams_done()) abandon_streams();
  if (killing) kill(std::chrono::milliseconds(0));
  close_streams();
  // Descriptors that are under way are not wanted any more, and need their room until then.
  if (id_ != 0) session_->forget(id_);
  settle_descriptors();
}

void resident_command::settle_descriptors() { session_->inbox().reserve.settle(std::exchange(expected_fds_, 0)); }

void resident_command::on_frame(const wire::header& header, std::string_view payload, fd_batch fds) {
  switch (header.type) {
    case wire::frame_type::started:
      on_started(payload, std::move(fds));
      break;
    case wire::frame_type::start_failed: {
      wire::start_failed why;
      why.get(payload);
      fail(request_.failure(why));
      break;
    }
    case wire::frame_type::exited:
      on_exited(payload);
      break;
    case wire::frame_type::tree_ended:
      on_tree_ended(payload);
      break;
    case wire::frame_type::port_list:
      on_ports(payload);
      break;
    default:
      on_stream_frame(header, payload);
      break;
  }
  changed_.notify();
}

void resident_command::on_started(std::string_view payload, fd_batch fds) {
  settle_descriptors();
  std::uint64_t pid = 0;
  wire::get_number(payload, pid);
  pid_ = static_cast<std::int64_t>(pid);
  if (take_streams(std::move(fds))) {
    started_ = true;
    return;
  }
  // Without its pipes it must not go on: its output would be lost, and it would see that.
  kill(std::chrono::milliseconds(0));
  fail(request_.failure(wire::start_step::resources, EMFILE));
}

void resident_command::on_exited(std::string_view payload) {
  wire::exited end;
  end.get(payload);
  exited_ = true;
  process_exited event{status_of(end), {}};
  event.usage.user_time = std::chrono::microseconds(end.user_us);
  event.usage.system_time = std::chrono::microseconds(end.system_us);
  event.usage.max_rss_bytes = static_cast<std::int64_t>(end.max_rss_bytes);
  if (!failed_) pending_.emplace_back(std::move(event));
  note_busy();
}

void resident_command::on_tree_ended(std::string_view payload) {
  wire::reader fields(payload);
  tree_ended event;
  const std::uint32_t count = fields.u32();
  for (std::uint32_t i = 0; i < count && fields.ok(); ++i) {
    const std::int64_t pid = fields.u32();
    event.survivors.push_back({pid, std::string(fields.bytes())});
  }
  kill_asked_ = false;
  if (!failed_) pending_.emplace_back(std::move(event));
  note_busy();
}

void resident_command::on_ports(std::string_view payload) {
  wire::reader fields(payload);
  ports_.clear();
  for (std::uint32_t left = fields.u32(); left > 0 && fields.ok(); --left) {
    const std::uint16_t port = fields.u16();
    if (fields.ok()) ports_.push_back(port);
  }
  ++ports_answered_;
  note_busy();
}

void resident_command::fail(exit_status status) {
  settle_descriptors();
  failed_ = true;
  streams_told_ = true;
  session_->set_busy(id_, false);
  pending_.emplace_back(process_exited{std::move(status), {}});
  pending_.emplace_back(streams_ended());
}

void resident_command::on_lost(const std::string& cause) {
  expected_fds_ = 0;  // the session has settled all
  if (lost_ || failed_) return;
  lost_ = true;
  cause_ = cause;
  if (session_->ran_out_of_memory() && started_ && !exited_) {
    exited_ = true;
    exit_status status(end_reason::oom_killed, 128 + SIGKILL, SIGKILL, cause);
    pending_.emplace_back(process_exited{std::move(status), {}});
  }
  changed_.notify();
  wake_writers();
}

}  // namespace berth
