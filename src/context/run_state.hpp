#pragma once
/// What is known of one running command: events and times go in, the reason of its end and the next time to look come out.

#include <berth/backend.hpp>
#include <berth/command.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace berth {

/// The rules of deadlines, drains and kills, without I/O.
class run_state {
 public:
  using clock = std::chrono::steady_clock;
  using milliseconds = std::chrono::milliseconds;

  /// A drain ends when this time was spent reading without a byte,
  static constexpr milliseconds quiet_limit{250};
  /// or when this time has passed since it began and what the pipes can have held was read.
  static constexpr milliseconds drain_limit{2000};
  static constexpr std::uint64_t pipes_hold = std::uint64_t{2} << 20;
  /// A tree that is still there so long after its KILL is given up.
  static constexpr milliseconds patience{10000};

  run_state(const command& what, clock::time_point now);

  /// Until when to wait for the next event; at that time hand in nothing_yet.
  clock::time_point wait_limit(clock::time_point now) const;
  /// A reader waited so long.
  void waited(clock::duration time) noexcept { quiet_ += time; }
  /// Hands in an event; what is to be read comes out.
  std::optional<chunk> take(process_event event, clock::time_point now);
  /// A kill was sent. `has_ended`: the first process is known to have ended before.
  void kill_sent(end_reason reason, milliseconds grace, clock::time_point now, bool has_ended);
  /// Nobody wants to wait for more output than is there.
  void stop_draining(clock::time_point now) noexcept { deadline_ = now; }

  /// The idle deadline has passed, and nothing was done about it yet.
  bool idle_passed() const noexcept;
  std::optional<clock::time_point> deadline() const noexcept { return deadline_; }
  /// The first process ended, or never began.
  bool exited() const noexcept { return exited_; }
  clock::time_point exited_at() const noexcept { return exited_at_; }
  /// A kill can do nothing more.
  bool tree_gone() const noexcept { return tree_ended_ || lost_ || start_failed(); }
  /// Nothing more is to be read.
  bool finished() const noexcept { return finished_; }
  bool streams_open() const noexcept { return streams_open_; }
  const exit_status& status() const noexcept { return status_; }
  const resource_usage& usage() const noexcept { return usage_; }
  const std::vector<survivor>& survivors() const noexcept { return survivors_; }

 private:
  bool start_failed() const noexcept { return exited_ && status_.reason() == end_reason::start_failed; }
  bool waits_for_end() const noexcept { return !exited_ || (tree_wanted_ && !tree_gone()); }
  clock::time_point drain_end() const noexcept;
  void expect_tree(milliseconds grace, clock::time_point now);
  void on_exit(process_exited event, clock::time_point now);
  void on_lost(std::string message, clock::time_point now);
  void on_quiet(clock::time_point now);
  void give_up_streams() noexcept;
  void settle(clock::time_point now);

  std::optional<clock::time_point> deadline_;
  std::optional<clock::duration> idle_timeout_;
  milliseconds grace_;
  resource_limits limits_;
  bool ends_leftovers_;

  std::optional<end_reason> asked_;
  milliseconds asked_grace_{0};
  bool kill_sent_ = false;
  bool tree_wanted_ = false;
  clock::time_point tree_patience_ = clock::time_point::max();

  bool exited_ = false;
  bool lost_ = false;
  bool streams_ended_ = false;
  bool streams_open_ = false;
  bool tree_ended_ = false;
  bool finished_ = false;
  clock::time_point exited_at_{};
  std::optional<clock::time_point> drain_began_;
  std::uint64_t drained_ = 0;
  clock::duration quiet_{0};

  exit_status status_;
  resource_usage usage_;
  std::vector<survivor> survivors_;
};

}  // namespace berth
