#pragma once
/// One file that is written at the end of a long run.

#include <string>

namespace berth::cli {

/// Until `put` an earlier file of this name stays as it was: what is written goes to a temporary file beside it, which is made at
/// once, so that a path that cannot be is known before. Devices, pipes and what is below /dev and /proc are written directly.
class report_file {
 public:
  /// Throws usage_error where it cannot be written.
  explicit report_file(std::string path);
  report_file(report_file&& other) noexcept;
  report_file& operator=(report_file&&) = delete;
  /// Removes the temporary file.
  ~report_file();

  /// Writes all of it, and lets it take the place of the earlier one. Throws std::system_error, which names the path.
  void put(const std::string& text);

  /// Where it is, without links; as given for what is written directly.
  const std::string& target() const noexcept { return target_; }

 private:
  void open_directly();
  void open_beside();
  void drop() noexcept;
  [[noreturn]] void fail(int code) const;

  std::string path_;    // as it was given
  std::string target_;  // absolute, behind links
  std::string temporary_;
  int fd_ = -1;
};

}  // namespace berth::cli
