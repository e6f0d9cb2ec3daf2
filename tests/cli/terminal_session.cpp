#include "cli/terminal_session.hpp"

#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <utility>

namespace berth::test {

terminal_session::terminal_session(const std::string& text) {
  pid_ = ::forkpty(&master_, nullptr, nullptr, nullptr);
  if (pid_ == 0) {
    ::execl("/bin/sh", "sh", "-c", text.c_str(), BERTH_PROGRAM, nullptr);
    ::_exit(99);
  }
  REQUIRE(pid_ > 0);
}

terminal_session::~terminal_session() {
  ::kill(pid_, SIGKILL);
  hang_up();
  ::waitpid(pid_, nullptr, 0);
}

void terminal_session::hang_up() {
  if (master_ != -1) ::close(std::exchange(master_, -1));
}

void terminal_session::type(std::string_view keys) const { CHECK(::write(master_, keys.data(), keys.size()) > 0); }

bool terminal_session::shows(std::string_view text) {
  const auto deadline = std::chrono::steady_clock::now() + program::patience;
  while (screen_.find(text) == std::string::npos) {
    pollfd ready{master_, POLLIN, 0};
    if (std::chrono::steady_clock::now() > deadline) return false;
    if (::poll(&ready, 1, 1000) <= 0) continue;
    std::array<char, 4096> buffer;
    const auto count = ::read(master_, buffer.data(), buffer.size());
    if (count <= 0) return false;
    screen_.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace berth::test
