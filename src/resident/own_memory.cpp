#include "resident/own_memory.hpp"

#include "resident/cgroup.hpp"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::resident {
namespace {

/// Is this line "N:controllers:/path" of /proc/self/cgroup the one of memory?
bool is_memory_line(const char* line) {
  const char* controllers = strchr(line, ':');
  const char* end = controllers != nullptr ? strchr(controllers + 1, ':') : nullptr;
  if (end == nullptr) return false;
  if (end == controllers + 1) return true;  // cgroup2 has one line, and names none
  const char* found = strstr(controllers, "memory");
  return found != nullptr && found < end;
}

int open_counter(const char* root, const char* path, const char* name) {
  char file[PATH_MAX];
  const int size = snprintf(file, sizeof file, "%s%s/%s", root, path, name);
  if (size < 0 || static_cast<std::size_t>(size) >= sizeof file) return -1;
  return ::open(file, O_RDONLY | O_CLOEXEC);
}

/// In a container the path is as a rule the root of what is mounted, or names what is not visible.
int open_counter_of(const char* path) {
  int fd = -1;
  for (const char* below : {path, ""}) {
    if (fd < 0) fd = open_counter("/sys/fs/cgroup/memory", below, "memory.oom_control");
    if (fd < 0) fd = open_counter("/sys/fs/cgroup", below, "memory.events");
  }
  return fd;
}

}  // namespace

void own_memory::open() {
  char text[8192];
  const int fd = ::open("/proc/self/cgroup", O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
  if (fd >= 0) close(fd);
  text[size > 0 ? size : 0] = '\0';
  char* rest = text;
  for (char* line; counter_ < 0 && (line = strsep(&rest, "\n")) != nullptr;) {
    if (!is_memory_line(line)) continue;
    const char* path = strchr(strchr(line, ':') + 1, ':') + 1;
    counter_ = open_counter_of(strcmp(path, "/") == 0 ? "" : path);
  }
  claimed_ = kills();
}

std::uint64_t own_memory::kills() const { return counter_ < 0 ? 0 : number_in(counter_, "oom_kill"); }

bool own_memory::claim(std::uint64_t before, int wait_status) {
  // A shell reports the signal of what it ran.
  const bool as_killed = (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL) ||
                         (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 128 + SIGKILL);
  if (!as_killed) return false;
  const std::uint64_t now = kills();
  if (now <= before || now <= claimed_) return false;
  ++claimed_;
  return true;
}

void offer_to_oom_killer(pid_t process) {
  constexpr char tenth_of_the_limit[] = "100";  // as if it used so much more, in thousandths
  char file[48];
  snprintf(file, sizeof file, "/proc/%d/oom_score_adj", process);
  const int fd = ::open(file, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  const ssize_t ignored = write(fd, tenth_of_the_limit, sizeof tenth_of_the_limit - 1);
  (void)ignored;
  close(fd);
}

}  // namespace berth::resident
