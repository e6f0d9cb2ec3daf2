#include "context/run_state.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace berth {
namespace {

using clock = run_state::clock;

constexpr int deadline_code = 124;
constexpr int cancelled_code = 128 + SIGTERM;

clock::time_point later(clock::time_point from, clock::duration time) {
  return time > clock::time_point::max() - from ? clock::time_point::max() : from + time;
}

/// The same time, or the longest that the clock knows.
clock::duration bounded(std::chrono::milliseconds time) {
  constexpr auto most = std::chrono::duration_cast<std::chrono::milliseconds>(clock::duration::max());
  return std::min(time, most);
}

/// The status of a command that was asked to end before it did.
exit_status as_asked(end_reason reason, const exit_status& seen) {
  std::string message = seen.message();
  if (message.empty() && seen.reason() == end_reason::exited) {
    message = "exited with " + std::to_string(seen.code()) + " when told to end";
  }
  int code = deadline_code;
  if (reason == end_reason::cancelled) code = seen.signal() != 0 ? 128 + seen.signal() : cancelled_code;
  return {reason, code, seen.signal(), std::move(message)};
}

/// Ends that a kill has no part in.
bool is_own_cause(end_reason reason) {
  return reason == end_reason::start_failed || reason == end_reason::oom_killed || reason == end_reason::lost;
}

/// Which limit a status speaks of. A shell reports the signal of what it ran as 128+n.
limit_kind limit_behind(const exit_status& status, const resource_usage& usage, const resource_limits& limits) {
  constexpr int shell_base = 128;
  const int signal = status.reason() == end_reason::exited ? status.code() - shell_base : status.signal();
  if (status.reason() == end_reason::oom_killed) return limit_kind::memory;
  if (limits.file_size() && signal == SIGXFSZ) return limit_kind::file_size;
  if (!limits.cpu_time()) return limit_kind::none;
  // The kernel holds a limit to the ticks that it saw, which on a busy machine are far from what was used; a command that sends itself
  // XCPU has used next to nothing. In seconds: any number of them is a limit.
  constexpr std::chrono::milliseconds tick{100};
  const auto used = usage.user_time + usage.system_time;
  const auto counted = signal == SIGXCPU ? 2 * used : std::chrono::microseconds(used + tick);
  const bool used_up = std::chrono::floor<std::chrono::seconds>(counted) >= *limits.cpu_time();
  return used_up && (signal == SIGXCPU || signal == SIGKILL) ? limit_kind::cpu_time : limit_kind::none;
}

}  // namespace

run_state::run_state(const command& what, clock::time_point now)
    : grace_(what.grace()), limits_(what.limits()), ends_leftovers_(what.ends_leftovers()) {
  if (what.timeout()) deadline_ = later(now, bounded(*what.timeout()));
  if (what.idle_timeout()) idle_timeout_ = bounded(*what.idle_timeout());
}

clock::time_point run_state::wait_limit(clock::time_point now) const {
  if (!waits_for_end()) {
    const auto end = drain_end();
    return now >= end ? now : std::min(end, now + (quiet_limit - quiet_));
  }
  auto limit = tree_patience_;
  if (idle_timeout_ && !exited_ && !kill_sent_) limit = std::min(limit, later(now, *idle_timeout_ - quiet_));
  return limit;
}

clock::time_point run_state::drain_end() const noexcept {
  const auto end = *drain_began_ + drain_limit;
  // After a kill the deadline lies in the past.
  return deadline_ && !kill_sent_ ? std::min(end, *deadline_) : end;
}

std::optional<chunk> run_state::take(process_event event, clock::time_point now) {
  std::optional<chunk> output;
  if (auto* const piece = std::get_if<chunk>(&event)) {
    quiet_ = {};
    if (drain_began_) drained_ += piece->bytes().size();
    if (!finished_ && !piece->bytes().empty()) output = std::move(*piece);
    if (!waits_for_end() && now >= drain_end() && drained_ >= pipes_hold) give_up_streams();
  } else if (std::holds_alternative<streams_ended>(event)) {
    streams_ended_ = true;
  } else if (auto* const end = std::get_if<process_exited>(&event)) {
    on_exit(std::move(*end), now);
  } else if (auto* const tree = std::get_if<tree_ended>(&event)) {
    tree_ended_ = true;
    survivors_ = std::move(tree->survivors);
    drain_began_.reset();
  } else if (auto* const loss = std::get_if<process_lost>(&event)) {
    on_lost(std::move(loss->message), now);
  } else {
    on_quiet(now);
  }
  settle(now);
  return output;
}

void run_state::kill_sent(end_reason reason, milliseconds grace, clock::time_point now, bool has_ended) {
  kill_sent_ = true;
  expect_tree(grace, now);
  if (exited_ || has_ended || asked_) return;
  asked_ = reason;
  asked_grace_ = grace;
}

bool run_state::idle_passed() const noexcept {
  return idle_timeout_ && !exited_ && !finished_ && !kill_sent_ && quiet_ >= *idle_timeout_;
}

void run_state::expect_tree(milliseconds grace, clock::time_point now) {
  tree_wanted_ = true;
  tree_patience_ = std::min(tree_patience_, later(later(now, bounded(grace)), patience));
}

void run_state::on_exit(process_exited event, clock::time_point now) {
  if (exited_ || lost_) return;
  exited_ = true;
  exited_at_ = now;
  usage_ = event.usage;
  // No command exits from a KILL: then it had ended by itself before.
  const bool by_itself = event.status.reason() == end_reason::exited && asked_grace_.count() == 0;
  if (asked_ && !by_itself && !is_own_cause(event.status.reason())) {
    status_ = as_asked(*asked_, event.status);
  } else {
    status_ = std::move(event.status);
    const limit_kind behind = limit_behind(status_, usage_, limits_);
    if (behind != limit_kind::none) status_.limit(behind);  // else what the backend saw
  }
  if (ends_leftovers_ && !start_failed()) expect_tree(grace_, now);
}

void run_state::on_lost(std::string message, clock::time_point now) {
  // What was complete before stays as it is.
  if (!finished_ && !(exited_ && streams_ended_)) status_ = exit_status::lost(std::move(message));
  if (!exited_) exited_at_ = now;
  exited_ = true;
  lost_ = true;
  streams_ended_ = true;
}

void run_state::on_quiet(clock::time_point now) {
  if (waits_for_end()) {
    if (now >= tree_patience_) on_lost("what it started was still there 10 s after its KILL", now);
  } else if (quiet_ >= quiet_limit || now >= drain_end()) {
    give_up_streams();
  }
}

void run_state::give_up_streams() noexcept {
  if (streams_ended_ || finished_) return;
  streams_open_ = true;
  finished_ = true;
}

void run_state::settle(clock::time_point now) {
  if (waits_for_end()) return;
  if (!drain_began_) {
    drain_began_ = now;
    drained_ = 0;
    quiet_ = {};
  }
  if (streams_ended_) finished_ = true;
}

}  // namespace berth
