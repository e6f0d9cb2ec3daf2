#include "resident/tree.hpp"

#include "wire/messages.hpp"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace berth::resident {
namespace {

constexpr int deepest = 200;  // levels of a tree that are walked at once; what lies deeper comes up as its parents die

/// Reads a small file of /proc whole; an empty view where there is none. The result is good until the next call.
std::string_view read_proc(const char* path, buffer& into) {
  into.clear();
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  for (;;) {
    const ssize_t n = read(fd, into.reserve(16384), 16384);
    if (n <= 0) break;
    into.commit(static_cast<std::size_t>(n));
  }
  close(fd);
  return into.view();
}

std::uint64_t to_number(std::string_view& in) {
  while (!in.empty() && (in.front() < '0' || in.front() > '9')) in.remove_prefix(1);
  std::uint64_t n = 0;
  for (; !in.empty() && in.front() >= '0' && in.front() <= '9'; in.remove_prefix(1)) {
    n = n * 10 + static_cast<std::uint64_t>(in.front() - '0');
  }
  return n;
}

/// Limits of RLIMIT_LOCKS. prlimit asks for the same user; the file in /proc is there for all.
bool read_tag(pid_t pid, rlimit64& limit) {
  if (prlimit64(pid, static_cast<__rlimit_resource>(RLIMIT_LOCKS), nullptr, &limit) == 0) return true;
  if (errno != EPERM) return false;
  char path[40];
  snprintf(path, sizeof path, "/proc/%d/limits", pid);
  buffer text;
  const std::string_view all = read_proc(path, text);
  const std::size_t at = all.find("Max file locks");
  if (at == std::string_view::npos) return false;
  std::string_view line(all.data() + at, all.size() - at);
  const std::size_t end = line.find('\n');
  if (end != std::string_view::npos) line.remove_suffix(line.size() - end);
  limit = {RLIM64_INFINITY, RLIM64_INFINITY};
  if (line.find("unlimited") == std::string_view::npos) {
    limit.rlim_cur = to_number(line);
    limit.rlim_max = to_number(line);
  }
  return true;
}

int pidfd_open(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

int pidfd_signal(int fd, int signo) { return static_cast<int>(syscall(SYS_pidfd_send_signal, fd, signo, nullptr, 0)); }

/// Signals a process that `check` still accepts once it cannot be another one any more. 0, or the errno.
template <class Check>
int signal_checked(pid_t pid, int signo, Check check) {
  const int fd = pidfd_open(pid);
  if (fd < 0) {
    if (errno == ESRCH || errno == EINVAL) return ESRCH;
    // No pidfd here: the pid cannot be reused while it is our unreaped child; deeper ones take the small risk.
    return check(pid) && ::kill(pid, signo) == 0 ? 0 : errno;
  }
  int error = ESRCH;
  pollfd exited{fd, POLLIN, 0};
  if (poll(&exited, 1, 0) == 0 && check(pid)) {  // a zombie takes signals, too
    error = pidfd_signal(fd, signo) == 0 ? 0 : errno;
    if (error == ENOSYS) error = ::kill(pid, signo) == 0 ? 0 : errno;
  }
  close(fd);
  return error;
}

}  // namespace

use_of_reserve::use_of_reserve() {
  getrlimit64(RLIMIT_NOFILE, &usual_);
  const rlimit64 whole{usual_.rlim_max, usual_.rlim_max};
  setrlimit64(RLIMIT_NOFILE, &whole);
}

use_of_reserve::~use_of_reserve() { setrlimit64(RLIMIT_NOFILE, &usual_); }

tree::tree() : self_(getpid()) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/task/%d/children", self_);
  has_children_files_ = access(path, R_OK) == 0;
  std::uint32_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random)
    random = static_cast<std::uint32_t>(getpid()) * 2654435761u;
  rlimit64 own{};
  getrlimit64(static_cast<__rlimit_resource>(RLIMIT_LOCKS), &own);
  is_inner_ = own.rlim_max != RLIM64_INFINITY;
  outer_hard_ = own.rlim_max;
  if (!is_inner_) {
    nonce_ = (random & 0x3fffffffu) | 0x40000000u;
  } else {
    const std::uint64_t below = outer_hard_ >> 32;  // ours must fit under the outer's hard value
    nonce_ = below > 1 ? 1 + static_cast<std::uint32_t>(random % (below - 1)) : 1;
  }
}

bool tree::is_tagged(const rlimit64& limit) const {
  return limit.rlim_cur >> 32 == nonce_ || limit.rlim_max >> 32 == nonce_;
}

bool tree::belongs(const membership& m, pid_t pid) const {
  if (pid == m.leader) return true;
  rlimit64 limit;
  if (!read_tag(pid, limit)) return false;
  if (is_tagged(limit)) return limit.rlim_cur == m.tag || limit.rlim_max == m.tag;
  return m.session != 0 && getsid(pid) == m.session;
}

template <class F>
void tree::for_each_child(pid_t parent, F f) {
  if (!has_children_files_) return scan_for_children(parent, f);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", parent);
  DIR* tasks = opendir(path);
  if (tasks == nullptr) return;
  buffer text;
  while (const dirent* entry = readdir(tasks)) {
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", parent, entry->d_name);
    std::string_view all = read_proc(path, text);
    while (const std::uint64_t pid = to_number(all)) f(static_cast<pid_t>(pid));
  }
  closedir(tasks);
}

/// Where the kernel was built without the children files: everything in /proc whose parent it is.
template <class F>
void tree::scan_for_children(pid_t parent, F f) {
  DIR* all = opendir("/proc");
  if (all == nullptr) return;
  buffer text;
  while (const dirent* entry = readdir(all)) {
    const pid_t pid = atoi(entry->d_name);
    if (pid <= 0) continue;
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    std::string_view stat = read_proc(path, text);
    const std::size_t name_end = stat.rfind(')');  // "pid (name) state parent": a name may hold anything
    if (name_end == std::string_view::npos) continue;
    stat.remove_prefix(name_end);
    if (static_cast<pid_t>(to_number(stat)) == parent) f(pid);
  }
  closedir(all);
}

template <class F>
void tree::for_each_descendant(pid_t of, F f, int depth) {
  for_each_child(of, [&](pid_t pid) {
    if (depth < deepest) for_each_descendant(pid, f, depth + 1);
    f(pid);
  });
}

template <class F>
void tree::visit(bool deep, F f) {
  const use_of_reserve may_walk;
  if (deep)
    for_each_descendant(self_, f, 0);
  else
    for_each_child(self_, f);
}

void tree::signal_all(const membership& m, int signo) {
  // The group at one blow: a shell whose child dies of the signal before it would go on, and say so in the output.
  const bool has_group = m.leader > 0 && ::kill(-m.leader, signo) == 0;
  if (has_group) ::kill(-m.leader, SIGCONT);
  visit(true, [&](pid_t pid) {
    const auto check = [&](pid_t p) { return belongs(m, p) && !(has_group && getpgid(p) == m.leader); };
    if (check(pid) && signal_checked(pid, signo, check) == 0) signal_checked(pid, SIGCONT, check);
  });
}

bool tree::is_alive(const membership& m, pid_t pid) const {
  const auto check = [&](pid_t p) { return belongs(m, p); };
  return check(pid) && signal_checked(pid, 0, check) != ESRCH;
}

void tree::members(const membership& m, buffer& pids) {
  visit(true, [&](pid_t pid) {
    if (belongs(m, pid)) pids.append(reinterpret_cast<const char*>(&pid), sizeof pid);
  });
}

int tree::count(const membership& m) {
  int alive = 0;
  visit(true, [&](pid_t pid) { alive += is_alive(m, pid) ? 1 : 0; });
  return alive;
}

int tree::kill_pass(const membership& m, bool deep) {
  int alive = 0;
  visit(deep, [&](pid_t pid) {
    const auto check = [&](pid_t p) { return belongs(m, p); };
    if (!check(pid)) return;
    const int error = signal_checked(pid, SIGKILL, check);
    if (error != EPERM && error != ESRCH) ++alive;
  });
  return alive;
}

std::uint32_t tree::survivors(const membership& m, buffer& out) {
  std::uint32_t count = 0;
  buffer text;
  visit(true, [&](pid_t pid) {
    if (count == 256 || !is_alive(m, pid)) return;
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/comm", pid);
    std::string_view name = read_proc(path, text);
    while (!name.empty() && name.back() == '\n') name.remove_suffix(1);
    wire::put_survivor(out, static_cast<std::uint32_t>(pid), name);
    ++count;
  });
  return count;
}

bool tree::kill_everything(bool deep) {
  int killed = 0;
  int refused = 0;
  // Our own children, unreaped: the pid is theirs.
  visit(false, [&](pid_t pid) { ++(::kill(pid, SIGKILL) == 0 ? killed : refused); });
  // Below those of other users, which do not die, there may be some of ours.
  const bool only_refused = killed == 0 && refused > 0;
  if (!deep && !only_refused) return true;
  visit(true, [&](pid_t pid) {
    const auto check = [&](pid_t p) {
      rlimit64 limit;
      return read_tag(p, limit) && is_tagged(limit);
    };
    if (signal_checked(pid, SIGKILL, check) == 0) ++killed;
  });
  return killed > 0 || !only_refused;
}

}  // namespace berth::resident
