#include "cli/bench_progress.hpp"

#include "cli/subcommand.hpp"

#include <fmt/format.h>

namespace berth::cli {

using namespace std::chrono_literals;

progress_line::progress_line(bool on) : on_(on), is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void progress_line::show(const bench::progress& now) {
  if (!on_ || clock::now() < next_) return;
  next_ = clock::now() + (is_terminal_ ? 100ms : 1000ms);
  const auto percent = now.total == 0 ? 100 : now.done * 100 / now.total;
  const auto text = fmt::format("berth: bench: {:>3} % {}", percent, now.name);
  print_text(is_terminal_ ? "\r\x1b[K" + text : text + '\n', STDERR_FILENO);
  shown_ = true;
}

void progress_line::clear() {
  if (shown_ && is_terminal_) print_text("\r\x1b[K", STDERR_FILENO);
  shown_ = false;
}

}  // namespace berth::cli
