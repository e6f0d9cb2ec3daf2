#include "os/helper_process.hpp"

#include "core/syscall.hpp"
#include "os/memory_image.hpp"
#include "os/pidfd.hpp"

#include <asio/posix/stream_descriptor.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

namespace berth {

struct helper_process::state {
  // Without a pidfd it is gone already, and somebody else has reaped it.
  state(pid_t p, unique_fd fd) : pid(p), owner(::getpid()), pidfd(std::move(fd)) {
    if (!pidfd) status = status_unknown;
  }

  bool readable(int timeout_ms) const {
    pollfd one{pidfd.get(), POLLIN, 0};
    return ::poll(&one, 1, timeout_ms) == 1;
  }

  // Reaps the child if it has ended. Readiness of the pidfd is not enough to believe it.
  bool ended() {
    if (status) return true;
    siginfo_t info{};
    const auto how = static_cast<idtype_t>(P_PIDFD);
    int result = ::waitid(how, static_cast<id_t>(pidfd.get()), &info, WEXITED | WNOHANG);
    if (result != 0 && errno == EINVAL)
      result = ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG);  // before 5.4
    if (result != 0) {
      if (errno == ECHILD && readable(0)) status = status_unknown;
    } else if (info.si_pid != 0) {
      const bool exited = info.si_code == CLD_EXITED;
      status = exited ? W_EXITCODE(info.si_status, 0) : W_EXITCODE(0, info.si_status);
    }
    return status.has_value();
  }

  pid_t pid;
  pid_t owner;
  unique_fd pidfd;
  std::optional<int> status;
};

namespace {

[[noreturn]] void fail(int code, const std::string& what) {
  throw error(std::error_code(code, std::system_category()), what);
}

struct spawn_attributes {
  spawn_attributes() {
    ::posix_spawnattr_init(&value);
    sigset_t all;
    sigset_t none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&value, &all);
    ::posix_spawnattr_setsigmask(&value, &none);
    // A group of its own in the caller's session: no signal of a terminal reaches it, and should it lie stopped when the
    // caller dies, the kernel wakes the group that is orphaned by that. In a session of its own it would lie there for ever.
    ::posix_spawnattr_setpgroup(&value, 0);
    ::posix_spawnattr_setflags(&value, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
  }
  spawn_attributes(const spawn_attributes&) = delete;
  spawn_attributes& operator=(const spawn_attributes&) = delete;
  ~spawn_attributes() { ::posix_spawnattr_destroy(&value); }
  posix_spawnattr_t value;
};

struct spawn_actions {
  explicit spawn_actions(const std::vector<placed_fd>& fds) {
    ::posix_spawn_file_actions_init(&value);
    int above = 2;
    for (const placed_fd& each : fds) above = std::max(above, each.to);
    for (const placed_fd& each : fds) {
      // Out of the way of every target, and never equal to its own.
      const int copy = ::fcntl(each.from, F_DUPFD_CLOEXEC, above + 1);
      if (copy < 0) fail(errno, "descriptors of a helper");
      copies.emplace_back(copy);
      ::posix_spawn_file_actions_adddup2(&value, copy, each.to);
    }
    for (int fd = 0; fd < 3; ++fd) {
      const auto placed = [fd](const placed_fd& each) { return each.to == fd; };
      if (std::any_of(fds.begin(), fds.end(), placed)) continue;
      ::posix_spawn_file_actions_addopen(&value, fd, "/dev/null", O_RDWR, 0);
    }
  }
  spawn_actions(const spawn_actions&) = delete;
  spawn_actions& operator=(const spawn_actions&) = delete;
  ~spawn_actions() { ::posix_spawn_file_actions_destroy(&value); }
  posix_spawn_file_actions_t value;
  std::vector<unique_fd> copies;
};

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  list.reserve(words.size() + 1);
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

// 0, or the error; ETXTBSY passes once another thread's fork has closed its copy of a file that was just written.
int spawn(const std::string& path, const helper_options& options, pid_t& pid) {
  const spawn_attributes attributes;
  const spawn_actions actions(options.fds);
  const std::vector<char*> argv = pointers(options.argv);
  std::vector<char*> env;
  if (options.env) env = pointers(*options.env);
  for (int attempt = 0;; ++attempt) {
    char* const* environment = options.env ? env.data() : ::environ;
    const int code = ::posix_spawn(&pid, path.c_str(), &actions.value, &attributes.value, argv.data(), environment);
    if (code != ETXTBSY || attempt == 20) return code;
    ::usleep(5000);
  }
}

// Before anything is started that could then not be followed.
void check_kernel() {
  if (open_pidfd(::getpid()) || errno != ENOSYS) return;
  throw error(make_error_code(errc::unsupported), "this kernel has no pidfd_open (Linux 5.3 or later is needed)");
}

// SIGKILL for a child that cannot be followed. None for one that is gone: its number may be another's by now.
unique_fd pidfd_or_kill(pid_t pid) {
  unique_fd fd = open_pidfd(pid);
  if (fd || errno == ESRCH) return fd;
  const int code = errno;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  fail(code, "pidfd_open");
}

}  // namespace

helper_process helper_process::start(const std::string& path, const helper_options& options) {
  check_kernel();
  pid_t pid = 0;
  const int code = spawn(path, options, pid);
  if (code != 0) fail(code, "cannot start " + path);
  return helper_process(std::make_shared<state>(pid, pidfd_or_kill(pid)));
}

helper_process helper_process::start(memory_image& image, const helper_options& options) {
  check_kernel();
  pid_t pid = 0;
  int code = spawn(memory_image::path(image.fd()), options, pid);
  const bool refused = code == EACCES || code == EPERM;
  if (refused && image.fall_back()) code = spawn(memory_image::path(image.fd()), options, pid);
  if (code != 0) fail(code, "cannot start " + image.name());
  return helper_process(std::make_shared<state>(pid, pidfd_or_kill(pid)));
}

pid_t helper_process::pid() const noexcept { return state_->pid; }

bool helper_process::is_ours() const noexcept { return state_->owner == ::getpid(); }

std::optional<int> helper_process::status() const noexcept { return state_->status; }

void helper_process::kill(int signo) const noexcept {
  if (!state_->status) send_signal(state_->pidfd, signo);
}

bool helper_process::wait_blocking(std::chrono::milliseconds time) const {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + time;
  while (!state_->ended()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    if (left.count() <= 0) return false;
    // A pidfd that is readable though the child lives would make this spin.
    if (state_->readable(static_cast<int>(left.count())) && !state_->ended()) ::usleep(1000);
  }
  return true;
}

task<int> helper_process::wait() const { return wait_on(state_); }

task<int> helper_process::wait_on(std::shared_ptr<state> self) {
  if (self->ended()) co_return *self->status;
  const auto executor = co_await asio::this_coro::executor;
  const int copy = check_syscall(::fcntl(self->pidfd.get(), F_DUPFD_CLOEXEC, 3), "wait for a helper");
  asio::posix::stream_descriptor ready(executor, copy);
  while (!self->ended()) co_await ready.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
  co_return *self->status;
}

std::string describe_wait_status(int status) {
  if (status == helper_process::status_unknown) return "ended";
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "exited with " + std::to_string(WEXITSTATUS(status));
}

}  // namespace berth
