#include <berth/exit_status.hpp>

#include <csignal>
#include <string>
#include <string_view>
#include <utility>

namespace berth {
namespace {

constexpr int unknown_code = 125;

struct signal_name {
  int number;
  std::string_view name;
};

constexpr signal_name signal_names[] = {
    {SIGHUP, "HUP"},   {SIGINT, "INT"},   {SIGQUIT, "QUIT"}, {SIGILL, "ILL"},       {SIGTRAP, "TRAP"},
    {SIGABRT, "ABRT"}, {SIGBUS, "BUS"},   {SIGFPE, "FPE"},   {SIGKILL, "KILL"},     {SIGUSR1, "USR1"},
    {SIGSEGV, "SEGV"}, {SIGUSR2, "USR2"}, {SIGPIPE, "PIPE"}, {SIGALRM, "ALRM"},     {SIGTERM, "TERM"},
    {SIGXCPU, "XCPU"}, {SIGXFSZ, "XFSZ"}, {SIGSYS, "SYS"},   {SIGVTALRM, "VTALRM"}, {SIGPROF, "PROF"},
    {SIGSTOP, "STOP"},
};

std::string_view name_of(int signal) {
  for (const auto& each : signal_names) {
    if (each.number == signal) return each.name;
  }
  return "unnamed";
}

std::string beginning(const exit_status& status) {
  switch (status.reason()) {
    case end_reason::exited:
      return "exited with " + std::to_string(status.code());
    case end_reason::signaled:
      return {};
    case end_reason::timed_out:
      return "timed out";
    case end_reason::idle_timed_out:
      return "timed out without output";
    case end_reason::cancelled:
      return "cancelled";
    case end_reason::oom_killed:
      return "killed for want of memory";
    case end_reason::start_failed:
      return "could not be started";
    case end_reason::lost:
      return "contact was lost";
    case end_reason::unknown:
      break;
  }
  return "ended for an unknown reason";
}

}  // namespace

std::string_view to_string(end_reason reason) noexcept {
  switch (reason) {
    case end_reason::exited:
      return "exited";
    case end_reason::signaled:
      return "signaled";
    case end_reason::timed_out:
      return "timed_out";
    case end_reason::idle_timed_out:
      return "idle_timed_out";
    case end_reason::cancelled:
      return "cancelled";
    case end_reason::oom_killed:
      return "oom_killed";
    case end_reason::start_failed:
      return "start_failed";
    case end_reason::lost:
      return "lost";
    case end_reason::unknown:
      break;
  }
  return "unknown";
}

exit_status::exit_status(end_reason reason, int code, int signal, std::string message)
    : reason_(reason), code_(code), signal_(signal), message_(std::move(message)) {}

exit_status exit_status::exited(int code) { return {end_reason::exited, code}; }

exit_status exit_status::signaled(int signal) { return {end_reason::signaled, 128 + signal, signal}; }

exit_status exit_status::start_failed(int code, std::string message) {
  return {end_reason::start_failed, code, 0, std::move(message)};
}

exit_status exit_status::lost(std::string message) { return {end_reason::lost, unknown_code, 0, std::move(message)}; }

std::string describe(const exit_status& status) {
  std::string line = beginning(status);
  const std::string number = std::to_string(status.signal());
  const std::string name(name_of(status.signal()));
  if (status.reason() == end_reason::signaled) {
    line = "signal " + number + " (" + name + ")";
  } else if (status.signal() != 0 && status.reason() != end_reason::oom_killed) {
    line += "; ended by " + name + " (signal " + number + ")";
  }
  if (status.limit() != limit_kind::none) line += ", its limit of " + std::string(to_string(status.limit()));
  std::string_view message = status.message();
  constexpr std::string_view same =
      "lost: ";  // as whoever tells of a loss begins, for those who read the message alone
  if (status.reason() == end_reason::lost && message.starts_with(same)) message.remove_prefix(same.size());
  if (!message.empty()) line.append(": ").append(message);
  return line;
}

}  // namespace berth
