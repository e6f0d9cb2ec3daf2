#include "cli/unfinished_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>

namespace berth::cli {
namespace {

/// A signal may come at any time: the path is whole while `used`.
struct unfinished {
  std::atomic<bool> used = false;
  std::array<char, PATH_MAX> path = {};
};

std::array<unfinished, 8> files;
std::atomic<pid_t> owner = 0;

/// Calls only what a signal handler may.
void remove_and_end(int signo) {
  // A child between vfork and exec has our memory and our handlers, but no files.
  if (::getpid() == owner) {
    for (const auto& each : files) {
      if (each.used) ::unlink(each.path.data());
    }
  }
  ::signal(signo, SIG_DFL);
  ::raise(signo);
}

}  // namespace

bool remove_at_signal(const std::string& path) {
  for (auto& each : files) {
    if (each.used) continue;
    if (path.size() >= each.path.size()) return false;
    std::memcpy(each.path.data(), path.c_str(), path.size() + 1);
    each.used = true;
    return true;
  }
  return false;
}

void forget_at_signal(const std::string& path) {
  for (auto& each : files) {
    if (each.used && path == each.path.data()) each.used = false;
  }
}

void end_by_signals() {
  owner = ::getpid();
  for (const int signo : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    struct sigaction now {};
    if (::sigaction(signo, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) continue;
    struct sigaction ours {};
    ours.sa_handler = remove_and_end;
    ::sigaction(signo, &ours, nullptr);
  }
}

}  // namespace berth::cli
