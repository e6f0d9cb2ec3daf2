#pragma once
/// The terminal that this program was started in, when every key of it belongs to somebody else.

#include <berth/command.hpp>

#include <termios.h>

namespace berth::cli {

/// Does the terminal serve another job than ours? Reading from it would then stop us.
bool is_in_background(int fd);

/// How large it is. One that does not know (0 columns or rows, as some serial lines and containers have) counts as 80x24.
terminal_size size_of_terminal(int fd);

/// Raw between `enter` and `leave`: no echo, no lines, no signals by keys, output as it stands.
///
/// Life: the destructor leaves.
class raw_terminal {
 public:
  explicit raw_terminal(int fd) : fd_(fd) {}
  raw_terminal(const raw_terminal&) = delete;
  raw_terminal& operator=(const raw_terminal&) = delete;
  ~raw_terminal() { leave(); }

  /// Only in the foreground: it would stop us otherwise. Doing it again makes it raw again after somebody else changed it.
  /// Errors: std::system_error.
  void enter();

  /// Puts back what `enter` found. What was typed and not yet read stays for who reads next. In the background it does nothing: the
  /// settings are then those of another job.
  void leave() noexcept;

 private:
  int fd_;
  bool is_raw_ = false;
  termios before_{};
};

}  // namespace berth::cli
