#pragma once
/// What `berth cp` says on standard error.

#include <berth/files.hpp>

#include <chrono>
#include <string>

namespace berth::cli {

/// How far a copy has come: on a terminal in one line that goes when this does, elsewhere a line a second.
class progress_report {
 public:
  explicit progress_report(bool on_terminal) : on_terminal_(on_terminal) {}
  progress_report(const progress_report&) = delete;
  progress_report& operator=(const progress_report&) = delete;
  ~progress_report();

  void tell(const transfer_progress& now);
  /// The last line, where lines stay.
  void finish(const transfer_progress& done) const;

 private:
  using clock = std::chrono::steady_clock;

  bool on_terminal_;
  bool shown_ = false;
  clock::time_point last_ = clock::now();
};

/// "3.4 MB"
std::string size_text(std::uint64_t bytes);

/// "12 entries, 3.4 MB"
std::string progress_text(const transfer_progress& now);

/// One line of what was left out; empty if nothing was.
std::string skipped_text(const transfer_progress& done);

}  // namespace berth::cli
