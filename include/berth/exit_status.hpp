#pragma once
/// How a command ended: the reason first, the numbers second.

#include <berth/api.hpp>
#include <berth/limits.hpp>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Why a command is no longer running. Each value has one cause; nothing else produces it.
enum class end_reason {
  exited,          ///< it ended by itself; code() is its exit code
  signaled,        ///< a signal ended it that did not come from its deadline, `kill` or a cancelled call
  timed_out,       ///< `command::timeout` passed
  idle_timed_out,  ///< `command::idle_timeout` passed without a byte of output
  cancelled,       ///< `process::kill`, or the awaiting call was cancelled
  oom_killed,      ///< the kernel ended it for want of memory; needs a cgroup, see `resource_limits::memory`
  start_failed,    ///< nothing ran; message() says which step failed and why
  lost,            ///< contact with the place broke; whether it finished is not known
  unknown,         ///< the backend could not tell
};

BERTH_API std::string_view to_string(end_reason reason) noexcept;

/// The end of one command. An object made by default is `unknown` with code 125.
class BERTH_API exit_status {
 public:
  exit_status() = default;
  exit_status(end_reason reason, int code, int signal = 0, std::string message = {});

  static exit_status exited(int code);
  static exit_status signaled(int signal);
  /// Code 127 where the program is missing, 126 where it could not be run.
  static exit_status start_failed(int code, std::string message);
  static exit_status lost(std::string message);

  end_reason reason() const noexcept { return reason_; }
  /// As a shell reports it: 0-255 for exited, 128+n for a signal (also of `cancelled`), 124 for a deadline, 126 or 127
  /// for start_failed, 125 for lost and unknown. It is 0 only for a command that exited with 0.
  int code() const noexcept { return code_; }
  /// The signal that ended the command's first process, or 0.
  int signal() const noexcept { return signal_; }
  /// One line for a person; empty where reason and numbers say it all.
  const std::string& message() const noexcept { return message_; }
  /// Which of the command's `resource_limits` ended it, where that is known; see docs/cancellation-and-limits.md.
  limit_kind limit() const noexcept { return limit_; }
  exit_status& limit(limit_kind kind) & {
    limit_ = kind;
    return *this;
  }
  /// Exited by itself with code 0.
  bool ok() const noexcept { return reason_ == end_reason::exited && code_ == 0; }

  bool operator==(const exit_status&) const = default;

 private:
  end_reason reason_ = end_reason::unknown;
  int code_ = 125;
  int signal_ = 0;
  limit_kind limit_ = limit_kind::none;
  std::string message_;
};

/// One line such as "exited with 3", "signal 9 (KILL)" or "timed out; ended by TERM (signal 15)".
BERTH_API std::string describe(const exit_status& status);

/// What the command's first process and the children it waited for used, as the kernel counts it.
struct resource_usage {
  std::chrono::microseconds user_time{0};
  std::chrono::microseconds system_time{0};
  std::int64_t max_rss_bytes = 0;
};

/// A process that a kill could not end: it belongs to another user, or nothing reaches it (in a container without a resident).
struct survivor {
  std::int64_t pid = 0;
  std::string name;
};

}  // namespace berth
