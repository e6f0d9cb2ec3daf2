#include "cli/raw_terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>

namespace berth::cli {
namespace {

/// At once, since waiting for the output to drain could take as long as somebody holds it up. What was written is not affected: it
/// was processed when it was.
bool set_modes(int fd, const termios& modes) {
  int result = -1;
  do result = ::tcsetattr(fd, TCSANOW, &modes);
  while (result == -1 && errno == EINTR);
  return result == 0;
}

}  // namespace

bool is_in_background(int fd) {
  const pid_t foreground = ::tcgetpgrp(fd);
  return foreground != -1 && foreground != ::getpgrp();
}

terminal_size size_of_terminal(int fd) {
  winsize now{};
  if (::ioctl(fd, TIOCGWINSZ, &now) != 0 || now.ws_col == 0 || now.ws_row == 0) return terminal_size();
  return terminal_size(now.ws_col, now.ws_row);
}

void raw_terminal::enter() {
  termios now{};
  if (::tcgetattr(fd_, &now) != 0) throw std::system_error(errno, std::system_category(), "terminal settings");
  if (!is_raw_) before_ = now;
  ::cfmakeraw(&now);
  if (!set_modes(fd_, now)) throw std::system_error(errno, std::system_category(), "terminal settings");
  is_raw_ = true;
}

void raw_terminal::leave() noexcept {
  if (!is_raw_) return;
  is_raw_ = false;
  if (is_in_background(fd_)) return;
  // Put into the background this very moment, we would be stopped.
  sigset_t blocked;
  sigset_t before;
  ::sigemptyset(&blocked);
  ::sigaddset(&blocked, SIGTTOU);
  ::pthread_sigmask(SIG_BLOCK, &blocked, &before);
  set_modes(fd_, before_);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace berth::cli
