#pragma once
/// `berth shell` in a real terminal, and what is left of that terminal afterwards.

#include "cli/tmux.hpp"
#include "support/temp_dir.hpp"

#include <sys/types.h>

#include <string>

namespace berth::test {

/// Arguments of `berth shell` for a shell that is the same everywhere; its prompt is "inner> ".
inline constexpr const char* plain_shell = "-e PS1='inner> ' --unset-env ENV -- sh -i";

/// A window and a directory of its own. Once `berth shell ARGUMENTS` has ended, it shows "code N" and ends.
class shell_window {
 public:
  explicit shell_window(const std::string& arguments = plain_shell, int columns = 80, int rows = 24);

  const tmux_window& terminal() const { return window_; }
  /// In the directory, which is the working directory.
  std::string file(const std::string& name) const { return directory_ / name; }
  /// Waits for a number that something writes to a file.
  pid_t number_in(const std::string& name) const;
  /// Types lines that write the pids of the plain shell and the resident, and gives that of `berth`.
  pid_t find_berth() const;

  /// It has ended with this code, and the settings of the terminal are what they were before.
  void await_end(int code) const;

 private:
  temp_dir directory_;
  tmux_window window_;
};

}  // namespace berth::test
