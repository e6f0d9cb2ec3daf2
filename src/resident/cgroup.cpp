#include "resident/cgroup.hpp"

#include "resident/memory.hpp"
#include "resident/tree.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace berth::resident {
namespace {

constexpr std::uint64_t most_processes = 4194304;  // PID_MAX_LIMIT: more is refused as no number

/// Opens a file of it; -1 with errno.
int open_file(const cgroup& g, const char* name, int how) {
  char path[PATH_MAX];
  const int size = snprintf(path, sizeof path, "%s/%s", g.path, name);
  if (size < 0 || static_cast<std::size_t>(size) >= sizeof path) {
    errno = ENAMETOOLONG;
    return -1;
  }
  return open(path, how | O_CLOEXEC);
}

bool write_file(const cgroup& g, const char* name, const char* text) {
  const int fd = open_file(g, name, O_WRONLY);
  if (fd < 0) return false;
  const bool done = write(fd, text, strlen(text)) >= 0;
  const int error = errno;
  close(fd);
  errno = error;
  return done;
}

bool write_number(const cgroup& g, const char* name, std::uint64_t number) {
  char text[24];
  snprintf(text, sizeof text, "%llu", static_cast<unsigned long long>(number));
  return write_file(g, name, text);
}

std::uint64_t count_of(const cgroup& g, const char* file, const char* key) {
  const int fd = open_file(g, file, O_RDONLY);
  const std::uint64_t count = number_in(fd, key);
  if (fd >= 0) close(fd);
  return count;
}

bool set_limits(const cgroup& g, const wire::start& request) {
  if (request.cgroup_memory != 0) {
    if (!write_number(g, "memory.max", request.cgroup_memory)) return false;
    // Where the kernel has them: else swap would make room for more, and half a command would live on.
    write_file(g, "memory.swap.max", "0");
    write_file(g, "memory.oom.group", "1");
  }
  if (request.cgroup_processes == 0) return true;
  if (request.cgroup_processes > most_processes) return write_file(g, "pids.max", "max");
  return write_number(g, "pids.max", request.cgroup_processes);
}

/// The directory `path` of `room` bytes, and those below it first: a command that may do so can make its own.
bool remove_tree(char* path, std::size_t size, std::size_t room) {
  if (rmdir(path) == 0 || errno == ENOENT) return true;
  DIR* all = opendir(path);
  if (all == nullptr) return false;
  while (const dirent* entry = readdir(all)) {
    const std::size_t more = strlen(entry->d_name) + 1;
    if (entry->d_type != DT_DIR || entry->d_name[0] == '.' || size + more >= room) continue;
    snprintf(path + size, room - size, "/%s", entry->d_name);
    remove_tree(path, size + more, room);
    path[size] = '\0';
  }
  closedir(all);
  return rmdir(path) == 0;
}

}  // namespace

std::uint64_t number_in(int fd, const char* key) {
  char text[1024];
  const ssize_t size = fd >= 0 ? pread(fd, text, sizeof text - 1, 0) : -1;
  if (size <= 0) return 0;
  text[size] = '\0';
  const std::size_t length = strlen(key);
  for (const char* line = text; line != nullptr; line = strchr(line, '\n')) {
    if (*line == '\n') ++line;
    if (strncmp(line, key, length) == 0 && line[length] == ' ') return strtoull(line + length, nullptr, 10);
  }
  return 0;
}

cgroup* make_cgroup(const wire::start& request, std::uint32_t nonce, std::uint32_t id) {
  const std::size_t room = request.cgroup.size() + 48;
  auto* g = make<cgroup>();
  g->id = id;
  g->path = static_cast<char*>(allocate(room));
  snprintf(g->path, room, "%.*s/berth-%d-%x-%u", static_cast<int>(request.cgroup.size()), request.cgroup.data(),
           getpid(), nonce, id);
  if (mkdir(g->path, 0755) == 0) {
    g->changes.fd = set_limits(*g, request) ? open_file(*g, "cgroup.events", O_RDONLY) : -1;
    if (g->changes.fd >= 0) {
      is_populated(*g);
      return g;
    }
    const int error = errno;
    rmdir(g->path);
    errno = error;
  }
  const int error = errno;
  destroy_cgroup(g);
  errno = error;
  return nullptr;
}

bool remove_directory(const cgroup& g) {
  const use_of_reserve may_walk;
  char path[PATH_MAX];
  const std::size_t size = strlen(g.path);
  if (size >= sizeof path) return true;  // it was never made
  memcpy(path, g.path, size + 1);
  return remove_tree(path, size, sizeof path);
}

void destroy_cgroup(cgroup* g) {
  close_fd(g->changes.fd);
  std::free(g->path);
  destroy(g);
}

int open_procs(const cgroup& g) { return open_file(g, "cgroup.procs", O_WRONLY); }

bool kill_all_in(const cgroup& g) {
  const use_of_reserve may_open;
  return write_file(g, "cgroup.kill", "1");
}

bool is_populated(const cgroup& g) { return number_in(g.changes.fd, "populated") != 0; }

std::uint32_t events_of(const cgroup& g) {
  const use_of_reserve may_open;
  std::uint32_t events = 0;
  if (count_of(g, "memory.events", "oom_kill") > 0) events |= wire::cgroup_oom_kill;
  if (count_of(g, "pids.events", "max") > 0) events |= wire::cgroup_fork_refused;
  return events;
}

}  // namespace berth::resident
