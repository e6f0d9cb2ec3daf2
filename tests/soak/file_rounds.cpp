#include "soak/file_rounds.hpp"

#include "os/file_reader.hpp"
#include "os/path_scope.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <random>

extern char** environ;

namespace berth::test {
namespace {

using clock = std::chrono::steady_clock;

struct writer {
  explicit writer(const std::string& path) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    const char* const argv[] = {"file_writer", path.c_str(), nullptr};
    const int failed = posix_spawn(&pid, BERTH_TEST_PROGRAMS "/file_writer", &actions, nullptr,
                                   const_cast<char* const*>(argv), environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    std::array<char, 16> word{};
    ready = failed == 0 && ::read(ends[0], word.data(), word.size()) > 0;
    close(ends[0]);
    if (failed != 0) pid = -1;
  }
  writer(const writer&) = delete;
  writer& operator=(const writer&) = delete;
  /// By whom it ended: 9 for us.
  int kill() {
    if (pid <= 0) return 0;
    int status = 0;
    ::kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    pid = -1;
    return WIFSIGNALED(status) ? WTERMSIG(status) : -1;
  }
  ~writer() { kill(); }

  pid_t pid = -1;
  bool ready = false;
};

std::string read_by_library(const std::string& path) {
  file_reader reader(*whole_host(), path, read_options());
  std::string all;
  while (!reader.at_end()) all += reader.read();
  return all;
}

/// With small reads, as other programs do.
std::string read_by_hand(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::string all;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; fd >= 0 && (got = ::read(fd, piece.data(), piece.size())) > 0;)
    all.append(piece.data(), static_cast<std::size_t>(got));
  if (fd >= 0) close(fd);
  return all;
}

/// What is wrong with a content, or nothing. See tests/support/file_writer.cpp.
std::string wrong_with(const std::string& content) {
  if (content.empty()) return "an empty file";
  const auto end = content.find('\n');
  if (end == content.npos) return "no head: " + content.substr(0, 20);
  const auto size = std::strtoul(content.c_str() + 1, nullptr, 10);
  if (content.size() - end - 1 != size) return "not whole";
  return content.find_first_not_of(content[0], end + 1) == content.npos ? "" : "a mixture";
}

}  // namespace

std::string kill_a_writer(const std::filesystem::path& directory, int number, file_rounds& seen) {
  const std::string path = directory / "f";
  std::minstd_rand random(static_cast<unsigned>(number) + 1);
  writer victim(path);
  if (!victim.ready) return "the writer did not start\n";
  const auto until = clock::now() + std::chrono::microseconds(random() % 20'000);
  std::string last, wrong;
  for (bool alive = true; wrong.empty();) {
    std::string now = seen.reads % 2 == 0 ? read_by_library(path) : read_by_hand(path);
    ++seen.reads;
    seen.contents += now != last ? 1 : 0;
    wrong = wrong_with(now);
    last = std::move(now);
    if (!alive) break;
    if (clock::now() < until) continue;
    const int by = victim.kill();
    if (by != SIGKILL) wrong = "the writer ended by itself";
    alive = false;
  }
  for (const auto& each : std::filesystem::directory_iterator(directory)) {
    if (each.path() == path) continue;
    ++seen.temporary;
    std::filesystem::remove(each.path());
  }
  return wrong.empty() ? "" : wrong + "\n";
}

}  // namespace berth::test
