#include "cli/exec_report.hpp"

#include <fmt/format.h>

#include <csignal>

namespace berth::cli {
namespace {

/// A signal that we passed on, or that says somebody stopped reading, is no news.
bool is_expected(int signo) {
  return signo == SIGINT || signo == SIGTERM || signo == SIGHUP || signo == SIGQUIT || signo == SIGPIPE;
}

}  // namespace

void tell_status(std::string_view subcommand, const exit_status& status) {
  switch (status.reason()) {
    case end_reason::exited:
    case end_reason::cancelled:
      return;
    case end_reason::signaled:
      if (is_expected(status.signal())) return;
      return print_error(fmt::format("ended by {}", describe(status)));
    case end_reason::start_failed:
      return print_error(subcommand, status.message());
    default:
      return print_error(subcommand, describe(status));
  }
}

void tell_survivors(std::string_view subcommand, const std::vector<survivor>& survivors) {
  for (const auto& one : survivors) {
    print_error(subcommand, fmt::format("process {} ({}) could not be ended, and goes on", one.pid, one.name));
  }
}

void tell_end(const exec_options& options, const exec_summary& summary) {
  const auto& status = summary.status;
  if (status.reason() == end_reason::timed_out)
    print_error(fmt::format("timed out after {}", duration_text(*options.timeout)));
  else if (status.reason() == end_reason::idle_timed_out)
    print_error(fmt::format("timed out after {} without output", duration_text(*options.idle_timeout)));
  else
    tell_status("exec", status);
  tell_survivors("exec", summary.survivors);
  if (summary.streams_open) print_error("exec", "what the command left running held its output open, and was ended");
}

std::string duration_text(std::chrono::milliseconds time) {
  using namespace std::chrono;
  std::string text;
  const auto whole_hours = duration_cast<hours>(time);
  const auto whole_minutes = duration_cast<minutes>(time - whole_hours);
  const auto rest = time - whole_hours - whole_minutes;
  if (whole_hours.count() > 0) text += fmt::format("{}h", whole_hours.count());
  if (whole_minutes.count() > 0) text += fmt::format("{}m", whole_minutes.count());
  if (rest.count() == 0 && !text.empty()) return text;
  if (rest < 1s && text.empty()) return fmt::format("{}ms", rest.count());
  return text + fmt::format("{}s", static_cast<double>(rest.count()) / 1000);
}

}  // namespace berth::cli
