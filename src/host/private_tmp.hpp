#pragma once
/// The directory that commands of one handle see as /tmp.

#include "os/unique_fd.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace berth {

/// What it must stay clear of, and may hide in; real paths.
struct tmp_surroundings {
  std::vector<std::string> writable;  ///< commands could put a link in its place there
  std::vector<std::string> hidden;    ///< below "/", commands do not see these
};

/// Made empty, for us alone, below TMPDIR, /tmp or another usual place. While it lives the directory is locked: one whose lock is
/// free has lost its owner, and the next that is made removes it. All functions block.
class private_tmp {
 public:
  /// Errors: unavailable where no place will do; those of making a directory.
  explicit private_tmp(const tmp_surroundings& around);
  ~private_tmp() { remove(); }
  private_tmp(const private_tmp&) = delete;
  private_tmp& operator=(const private_tmp&) = delete;

  /// Real.
  const std::string& path() const noexcept { return path_; }
  /// Is the path still that of the directory?
  bool stands() const noexcept;
  /// Gives it back to its owner, if a command took it away: no other could be started in a project below /tmp.
  void let_in() const noexcept;
  /// Once nothing uses it any more. A copy of this process made by fork leaves it alone.
  void remove() noexcept;

 private:
  bool make_below(const std::string& place);

  std::string path_;
  unique_fd directory_;
  pid_t owner_;
};

}  // namespace berth
