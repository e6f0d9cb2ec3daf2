#pragma once
/// Shell text on a bare terminal, of which the test is the user.

#include "cli/program.hpp"

#include <sys/types.h>

#include <string>
#include <string_view>

namespace berth::test {

/// "$0" in the text is `berth`. The terminal does not know its size (0x0).
///
/// Life: what still runs is killed.
class terminal_session {
 public:
  explicit terminal_session(const std::string& text);
  terminal_session(const terminal_session&) = delete;
  terminal_session& operator=(const terminal_session&) = delete;
  ~terminal_session();

  pid_t pid() const { return pid_; }
  void type(std::string_view keys) const;
  /// Reads until all that was shown contains the text.
  bool shows(std::string_view text);
  /// The person goes: the line is cut.
  void hang_up();

  const std::string& screen() const { return screen_; }

 private:
  int master_ = -1;
  pid_t pid_ = -1;
  std::string screen_;
};

}  // namespace berth::test
