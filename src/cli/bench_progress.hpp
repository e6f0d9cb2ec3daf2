#pragma once
/// How far `berth bench` is, on standard error.

#include <berth/bench.hpp>

#include <chrono>

namespace berth::cli {

/// On a terminal a line that changes, elsewhere a line a second.
class progress_line {
 public:
  explicit progress_line(bool on);

  void show(const bench::progress& now);
  /// Nothing more to tell.
  void clear();

 private:
  using clock = std::chrono::steady_clock;

  bool on_;
  bool is_terminal_;
  bool shown_ = false;
  clock::time_point next_ = clock::now();
};

}  // namespace berth::cli
