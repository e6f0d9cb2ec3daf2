#include "os/terminal_master.hpp"

#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>

namespace berth {

void resize_terminal(int master, int columns, int rows) noexcept {
  winsize window{};
  window.ws_col = static_cast<unsigned short>(columns);
  window.ws_row = static_cast<unsigned short>(rows);
  ::ioctl(master, TIOCSWINSZ, &window);
}

ssize_t write_terminal(int master, const void* data, std::size_t size) noexcept {
  ssize_t n = 0;
  do {
    n = ::write(master, data, size);
  } while (n < 0 && errno == EINTR);
  pollfd state{master, 0, 0};
  if (n < 0 && errno == EAGAIN) errno = ::poll(&state, 1, 0) > 0 && (state.revents & POLLHUP) != 0 ? EIO : EAGAIN;
  return n;
}

bool type_end_of_file(int master) noexcept {
  termios line{};
  if (::tcgetattr(master, &line) != 0 || line.c_cc[VEOF] == _POSIX_VDISABLE) return true;
  return write_terminal(master, &line.c_cc[VEOF], 1) >= 0 || errno != EAGAIN;
}

}  // namespace berth
