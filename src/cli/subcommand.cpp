#include "cli/subcommand.hpp"

#include "core/shown_path.hpp"
#include "core/text.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <termios.h>

#include <cerrno>
#include <cstring>

namespace berth::cli {
namespace {

/// Writes all, also to a terminal or pipe that somebody made non-blocking. Gives the errno of a failure, or 0.
int write_whole(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      ::poll(&ready, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

/// A raw terminal does not begin a new line at its left edge by itself.
bool is_raw(int fd) {
  termios now{};
  return ::tcgetattr(fd, &now) == 0 && (now.c_oflag & OPOST) == 0;
}

std::string one_line(std::string_view text) {
  const std::string all = to_text(text);
  std::string line;
  for (std::size_t at = 0; at < all.size();) {
    const auto size = utf8_ceil(all, at + 1) - at;
    const auto character = std::string_view(all).substr(at, size);
    line += is_showable(character) ? character : "?";
    at += size;
  }
  return line;
}

}  // namespace

int print_text(std::string_view text, int fd) {
  const int failure = write_whole(fd, text);
  if (failure == EPIPE) return exit_broken_pipe;
  if (failure != 0) print_error(fmt::format("output: {}", std::strerror(failure)));
  return failure == 0 ? 0 : exit_own_failure;
}

task<int> show_help(std::string_view text) { co_return print_text(text); }

void print_error(std::string_view text) {
  // What cannot be written to standard error cannot be told anywhere.
  const bool raw = is_raw(STDERR_FILENO);
  write_whole(STDERR_FILENO, fmt::format("{}berth: {}{}\n", raw ? "\r\n" : "", one_line(text), raw ? "\r" : ""));
}

void print_error(std::string_view subcommand, std::string_view text) {
  print_error(fmt::format("{}: {}", subcommand, text));
}

}  // namespace berth::cli
