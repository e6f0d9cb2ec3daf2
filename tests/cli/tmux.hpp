#pragma once
/// A real terminal for programs that draw: a tmux server of the test's own, seen through its screen.

#include "support/temp_dir.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

/// One window, in which shell text runs with "$BERTH" as the program. Nobody is attached to it.
///
/// Life: its server, and so all that runs in it, ends with this.
class tmux_window {
 public:
  tmux_window(const std::string& shell_text, int columns = 80, int rows = 24);
  tmux_window(const tmux_window&) = delete;
  tmux_window& operator=(const tmux_window&) = delete;
  ~tmux_window();

  /// Is there a tmux? If not, tells that the test case was skipped.
  static bool is_there(const char* sentence);

  /// As it stands.
  void type(std::string_view text) const;
  /// tmux's names of keys: Enter, C-c, Escape.
  void press(const std::string& key) const;
  /// A line and its Enter.
  void enter(std::string_view line) const;
  /// As the terminal would: line feeds become carriage returns.
  void paste(std::string_view bytes) const;
  void resize(int columns, int rows) const;

  /// What is to be seen, lines that were too long joined, without blanks at their ends.
  std::string screen() const;
  /// The rows one by one, without blanks at their ends.
  std::vector<std::string> rows() const;

  /// Waits until it is to be seen; fails the test if it never is.
  void await(std::string_view text) const;
  void await_rows(const std::function<bool(const std::vector<std::string>&)>& are_so, const char* what) const;

 private:
  std::string call(std::vector<std::string> request) const;

  temp_dir directory_;
};

}  // namespace berth::test
