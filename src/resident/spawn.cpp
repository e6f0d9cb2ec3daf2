#include "resident/spawn.hpp"

#include "resident/memory.hpp"
#include "resident/raw_syscall.hpp"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace berth::resident {
namespace {

constexpr int report_in_child = 3;
constexpr std::size_t stack_size = 16 * 1024;
constexpr std::string_view default_path = "/usr/local/bin:/usr/bin:/bin";

/// A bump allocator over one block.
struct arena {
  char* at;
  char* take(std::size_t size, std::size_t align = 1) {
    at += (align - reinterpret_cast<std::uintptr_t>(at) % align) % align;
    char* p = at;
    at += size;
    return p;
  }
  char* text(std::string_view v) {
    char* p = take(v.size() + 1);
    if (!v.empty()) std::memcpy(p, v.data(), v.size());
    p[v.size()] = '\0';
    return p;
  }
  char** pointers(std::size_t count) { return reinterpret_cast<char**>(take(count * sizeof(char*), alignof(char*))); }
};

std::string_view name_of(std::string_view variable) {
  const std::size_t at = variable.find('=');
  return {variable.data(), at == std::string_view::npos ? variable.size() : at};
}

/// Puts one change into the list; the list has room for it.
std::size_t apply(char** list, std::size_t count, std::string_view change, char* text) {
  const std::string_view name = name_of(change);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (name_of(list[i]) != name) list[kept++] = list[i];
  }
  if (name.size() < change.size()) list[kept++] = text;
  list[kept] = nullptr;
  return kept;
}

bool has_variable(char** environment, std::string_view name) {
  for (char** e = environment; *e != nullptr; ++e) {
    if (name_of(*e) == name) return true;
  }
  return false;
}

std::string_view path_of(char** environment) {
  for (char** e = environment; *e != nullptr; ++e) {
    if (std::string_view(*e).starts_with("PATH=")) return *e + 5;
  }
  return default_path;
}

/// How large all texts are, an end for each included. False where they do not fit the frame, or a NUL would cut one short.
bool measure(const wire::start& request, wire::reader words, std::size_t& bytes) {
  bool is_whole = request.cwd.find('\0') == std::string_view::npos;
  bytes = request.cwd.size() + 1;
  for (std::uint64_t i = 0; i < std::uint64_t{request.argc} + request.envc && words.ok(); ++i) {
    const std::string_view word = words.bytes();
    is_whole = is_whole && word.find('\0') == std::string_view::npos;
    bytes += word.size() + 1;
  }
  return is_whole && words.done();
}

}  // namespace

launch* launch::make(const wire::start& request, wire::reader& fields, char** environment) {
  std::size_t inherited = 0;
  std::size_t bytes = 0;
  if ((request.flags & wire::start_clear_env) == 0) {
    while (environment[inherited] != nullptr) ++inherited;
  }

  if (!measure(request, fields, bytes)) return nullptr;

  const std::size_t pointers = request.argc + 3 + request.argc + 2 + inherited + request.envc + 2;
  const std::size_t block_size = sizeof(launch) + stack_size + 64 + pointers * sizeof(char*) + bytes;
  char* block = static_cast<char*>(allocate(block_size));
  launch* l = new (block) launch;
  arena a{block + sizeof(launch)};
  l->stack_top_ = a.take(stack_size, 16) + stack_size;
  l->argv_ = a.pointers(request.argc + 1);
  l->shell_argv_ = a.pointers(request.argc + 2);
  l->envp_ = a.pointers(inherited + request.envc + 2);
  l->cwd_ = a.text(request.cwd);
  for (std::uint32_t i = 0; i < request.argc; ++i) l->argv_[i] = a.text(fields.bytes());
  std::size_t count = 0;
  for (; count < inherited; ++count) l->envp_[count] = environment[count];
  for (std::uint32_t i = 0; i < request.envc; ++i) {
    const std::string_view change = fields.bytes();
    count = apply(l->envp_, count, change, a.text(change));
  }
  l->has_terminal = (request.flags & wire::start_terminal) != 0;
  static char usual_terminal[] = "TERM=xterm-256color";
  if (l->has_terminal && !has_variable(l->envp_, "TERM")) {
    l->envp_[count++] = usual_terminal;
    l->envp_[count] = nullptr;
  }
  static char shell[] = "/bin/sh";
  l->shell_argv_[0] = shell;
  for (std::uint32_t i = 1; i < request.argc; ++i) l->shell_argv_[i + 1] = l->argv_[i];
  l->find_program();
  return l;
}

/// Where the program may lie, in the order of PATH; the child tries one after the other.
void launch::find_program() {
  const std::string_view program = argv_[0];
  is_searched_ = !program.empty() && program.find('/') == std::string_view::npos;
  const std::string_view path = is_searched_ ? path_of(envp_) : std::string_view{};
  std::size_t entries = 1;
  for (const char c : path) entries += c == ':';
  const std::size_t size = entries * (sizeof(char*) + program.size() + 3) + path.size() + sizeof(char*);
  arena a{static_cast<char*>(allocate(size))};
  candidates_ = a.pointers(entries + 1);
  std::size_t count = 0;
  if (!is_searched_) {
    candidates_[count++] = a.text(program);
    return;
  }
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = path.find(':', at);
    if (end == std::string_view::npos) end = path.size();
    const std::string_view folder(path.data() + at, end - at);
    char* p = a.take(folder.size() + 2 + program.size() + 1);
    candidates_[count++] = p;
    if (folder.empty())
      *p++ = '.';
    else
      std::memcpy(p, folder.data(), folder.size()), p += folder.size();
    *p++ = '/';
    std::memcpy(p, program.data(), program.size());
    at = end + 1;
  }
}

void launch::destroy(launch* l) {
  std::free(l->candidates_);
  std::free(l);
}

pid_t launch::go() {
  parent_ = getpid();
  const int pid = clone(child, stack_top_, CLONE_VM | SIGCHLD, this);
  return pid < 0 ? -errno : pid;
}

// From here to exec: the memory is the running resident's, errno too. Raw system calls and nothing else.

void launch::fail(wire::start_step step, long error) const {
  const std::uint32_t words[2] = {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(-error)};
  raw_syscall(SYS_write, is_clean_ ? report_in_child : report, raw_pointer(words), sizeof words);
  for (;;) raw_syscall(SYS_exit_group, 127);
}

int launch::child(void* self) {
  auto& l = *static_cast<launch*>(self);
  l.prepare();
  l.execute();
}

void launch::prepare() {
  using wire::start_step;
  // The resident is single-threaded, so its death is what this follows, and not that of some thread.
  raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL);
  if (raw_syscall(SYS_getppid) != parent_) fail(start_step::clone, -ESRCH);
  long r = raw_syscall(SYS_setsid);
  if (r < 0) fail(start_step::session, r);
  if (has_terminal) {
    r = raw_syscall(SYS_ioctl, std_in, TIOCSCTTY, 0);
    if (r < 0) fail(start_step::terminal, r);
  }

  // A tag that cannot be set leaves the session to tell whose a process is.
  const rlimit64 locks{tag, tag_hard};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_LOCKS, raw_pointer(&locks), 0);

  const int from[3] = {std_in, std_out, std_err};
  for (int i = 0; i < 3; ++i) {
    r = raw_syscall(SYS_dup3, from[i], i, 0);
    if (r < 0) fail(start_step::streams, r);
  }
  // Should exec hang, this child must not hold the pipes of other commands open.
  raw_syscall(SYS_dup3, report, report_in_child, O_CLOEXEC);
  is_clean_ = true;
  raw_syscall(SYS_close_range, report_in_child + 1, ~0u, 0);
  const rlimit64 files{open_files, open_files_hard};
  raw_syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, raw_pointer(&files), 0);
  if (*cwd_ != '\0') {
    r = raw_syscall(SYS_chdir, raw_pointer(cwd_));
    if (r < 0) fail(start_step::cwd, r);
  }
  const std::uint64_t no_signals = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, raw_pointer(&no_signals), 0, sizeof no_signals);
}

void launch::execute() const {
  long denied = 0;
  long error = -ENOENT;
  for (char** c = candidates_; *c != nullptr; ++c) {
    error = raw_syscall(SYS_execve, raw_pointer(*c), raw_pointer(argv_), raw_pointer(envp_));
    if (error == -ENOEXEC) {
      shell_argv_[1] = *c;
      error = raw_syscall(SYS_execve, raw_pointer(shell_argv_[0]), raw_pointer(shell_argv_), raw_pointer(envp_));
    }
    // A folder of PATH that may not be searched does not make the program found.
    const bool exists = !is_searched_ || raw_syscall(SYS_faccessat, AT_FDCWD, raw_pointer(*c), F_OK) == 0;
    if (error == -EACCES)
      denied = exists ? error : denied;
    else if (error != -ENOENT && error != -ENOTDIR)
      break;
  }
  if (error == -ENOENT || error == -ENOTDIR || error == -EACCES) error = denied != 0 ? denied : -ENOENT;
  fail(wire::start_step::exec, error);
}

}  // namespace berth::resident
