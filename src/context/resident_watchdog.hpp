#pragma once
/// When a resident that says nothing is asked, continued, and given up: no I/O.

#include <chrono>

namespace berth {

/// Fed with the time about once a second while an answer of the resident is due.
///
/// A second of silence: ask. A second without an answer: somebody may have stopped it, continue it. One more: end it. Time in
/// which our own loop stood still is not held against it.
class resident_watchdog {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds period{1000};

  enum class action { none, ping, resume, kill };

  /// There is something to wait for from now on.
  void begin(clock::time_point now) noexcept;
  /// When tick() should be called next.
  clock::time_point next() const noexcept { return due_; }
  /// `heard` is when the last frame came.
  action tick(clock::time_point now, clock::time_point heard) noexcept;

 private:
  enum class phase { listening, asked, continued };

  phase phase_ = phase::listening;
  clock::time_point since_{};
  clock::time_point due_{};
};

}  // namespace berth
