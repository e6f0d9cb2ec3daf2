/// Rounds in which the owner is another program, which is killed.
#include "soak/owner_rounds.hpp"

#include "support/leaks.hpp"
#include "support/proc_scan.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <system_error>
#include <thread>

extern char** environ;

namespace berth::test {
namespace {

using namespace std::chrono_literals;

/// The program `owner`, and what it says.
class owner_program {
 public:
  explicit owner_program(std::string verb) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::system_category(), "pipe");
    std::string path = BERTH_TEST_PROGRAMS "/owner", count = "20";
    char* const words[] = {path.data(), verb.data(), count.data(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    const int failure = posix_spawn(&pid_, path.c_str(), &actions, nullptr, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    output_ = ends[0];
    if (failure != 0) throw std::system_error(failure, std::system_category(), path);
  }
  ~owner_program() { end(); }
  owner_program(const owner_program&) = delete;
  owner_program& operator=(const owner_program&) = delete;

  /// What it printed until and with "ready", or until the time passed.
  std::string wait_until_ready() {
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    std::string seen;
    while (seen.find("ready\n") == std::string::npos && std::chrono::steady_clock::now() < deadline) {
      pollfd poller = {output_, POLLIN, 0};
      if (poll(&poller, 1, 1000) <= 0) continue;
      char buffer[256];
      const ssize_t n = read(output_, buffer, sizeof buffer);
      if (n <= 0) break;
      seen.append(buffer, static_cast<std::size_t>(n));
    }
    return seen;
  }

  void end() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
      close(output_);
    }
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  int output_ = -1;
};

std::string lines(const std::vector<std::string>& all) {
  std::string text;
  for (const std::string& each : all) text += each + "\n";
  return text;
}

}  // namespace

std::string owner_killed(int) {
  leak_check leaks;
  owner_program owner("run");
  const std::string said = owner.wait_until_ready();
  if (said != "ready\n") return "the owner said: " + said;
  if (leaks.commands().size() < 40) return "too few processes were there to be killed";
  owner.end();
  return lines(leaks.left_over(2s));
}

std::string owner_killed_while_starting(int number) {
  leak_check leaks;
  owner_program owner("run");
  std::this_thread::sleep_for(std::chrono::milliseconds(number * 7 % 150));
  owner.end();
  return lines(leaks.left_over(2s));
}

std::string owner_forked_and_killed(int) {
  leak_check leaks;
  owner_program owner("fork");
  const std::string said = owner.wait_until_ready();
  const auto copy = static_cast<pid_t>(said.starts_with("copy ") ? std::atoi(said.c_str() + 5) : 0);
  if (copy <= 0 || !said.ends_with("ready\n")) return "the owner said: " + said;
  leaks.ignore(copy);
  owner.end();
  std::string wrong = lines(leaks.left_over(2s));
  if (!is_alive(copy)) wrong += "the copy of the owner is gone too\n";
  kill(copy, SIGKILL);
  return wrong;
}

}  // namespace berth::test
