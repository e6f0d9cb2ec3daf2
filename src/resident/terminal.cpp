#include "resident/terminal.hpp"

#include "resident/loop.hpp"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

namespace berth::resident {
namespace {

int open_slave(int master) {
  int locked = 0;
  if (ioctl(master, TIOCSPTLCK, &locked) != 0) return -1;
  // By the master itself: the mount that it belongs to need not be the one at /dev/pts.
  const int slave = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (slave >= 0 || (errno != ENOTTY && errno != EINVAL && errno != ENOSYS)) return slave;
  unsigned number = 0;
  if (ioctl(master, TIOCGPTN, &number) != 0) return -1;
  char path[32];
  snprintf(path, sizeof path, "/dev/pts/%u", number);
  return open(path, O_RDWR | O_NOCTTY | O_CLOEXEC);
}

}  // namespace

bool open_terminal(const wire::resize& size, int& master, int& slave) {
  master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (master < 0) return false;
  slave = open_slave(master);
  if (slave < 0) {
    const int error = errno;
    close_fd(master);
    errno = error;
    return false;
  }
  resize_terminal(master, size);
  termios line;
  if (tcgetattr(slave, &line) == 0) {
    line.c_iflag |= IUTF8;  // so that erasing takes a whole character
    tcsetattr(slave, TCSANOW, &line);
  }
  return true;
}

void resize_terminal(int master, const wire::resize& size) {
  winsize window{};
  window.ws_col = static_cast<unsigned short>(size.columns);
  window.ws_row = static_cast<unsigned short>(size.rows);
  ioctl(master, TIOCSWINSZ, &window);
}

bool type_end(int master) {
  termios line;
  if (tcgetattr(master, &line) != 0 || line.c_cc[VEOF] == _POSIX_VDISABLE) return true;
  ssize_t n;
  do {
    n = write(master, &line.c_cc[VEOF], 1);
  } while (n < 0 && errno == EINTR);
  return n >= 0 || errno != EAGAIN;
}

}  // namespace berth::resident
