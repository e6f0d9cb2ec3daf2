#include "resident/spawn.hpp"

#include "resident/memory.hpp"
#include "resident/raw_syscall.hpp"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/// The last change of each name, hashed: there may be as many as exec takes, and all commands wait meanwhile.
class last_changes {
 public:
  explicit last_changes(std::size_t count) {
    while (size_ < 2 * count) size_ *= 2;
    slots_ = static_cast<char**>(allocate(size_ * sizeof(char*)));
  }
  last_changes(const last_changes&) = delete;
  last_changes& operator=(const last_changes&) = delete;
  ~last_changes() { std::free(slots_); }

  void add(char* change) { slot(name_of(change)) = change; }
  bool has(std::string_view name) const { return slot(name) != nullptr; }
  bool is_last(const char* change) const { return slot(name_of(change)) == change; }

 private:
  char*& slot(std::string_view name) const {
    std::uint64_t hash = 14695981039346656037u;  // FNV-1a
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
    std::size_t at = (hash ^ hash >> 32) & (size_ - 1);
    while (slots_[at] != nullptr && name_of(slots_[at]) != name) at = (at + 1) & (size_ - 1);
    return slots_[at];
  }

  std::size_t size_ = 16;
  char** slots_;
};

/// The list holds what is inherited, and behind it all changes. What they come to; the last one of a name wins.
std::size_t apply_changes(char** list, std::size_t inherited, std::size_t changes) {
  last_changes last(changes);
  for (std::size_t i = 0; i < changes; ++i) last.add(list[inherited + i]);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < inherited; ++i) {
    if (!last.has(name_of(list[i]))) list[kept++] = list[i];
  }
  for (std::size_t i = inherited; i < inherited + changes; ++i) {
    const std::string_view change = list[i];
    if (last.is_last(list[i]) && name_of(change).size() < change.size()) list[kept++] = list[i];
  }
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

/// How large all texts are, an end for each included. False where what follows does not fit the frame, a NUL would cut a text short,
/// or a limit is not known.
bool measure(const wire::start& request, wire::reader words, std::size_t& bytes) {
  bool is_whole =
      request.cwd.find('\0') == std::string_view::npos && request.cgroup.find('\0') == std::string_view::npos;
  bytes = request.cwd.size() + 1;
  for (std::uint64_t i = 0; i < std::uint64_t{request.argc} + request.envc && words.ok(); ++i) {
    const std::string_view word = words.bytes();
    is_whole = is_whole && word.find('\0') == std::string_view::npos;
    bytes += word.size() + 1;
  }
  for (std::uint32_t i = 0; i < request.limitc && words.ok(); ++i) {
    const std::uint32_t kind = words.u32();
    words.u64();
    is_whole = is_whole && kind >= 1 && kind <= static_cast<std::uint32_t>(wire::limit::nice);
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
  const std::size_t block_size =
      sizeof(launch) + stack_size + 64 + pointers * sizeof(char*) + request.limitc * sizeof(limit) + bytes;
  char* block = static_cast<char*>(allocate(block_size));
  launch* l = new (block) launch;
  arena a{block + sizeof(launch)};
  l->stack_top_ = a.take(stack_size, 16) + stack_size;
  l->argv_ = a.pointers(request.argc + 1);
  l->shell_argv_ = a.pointers(request.argc + 2);
  l->envp_ = a.pointers(inherited + request.envc + 2);
  l->limits_ = reinterpret_cast<limit*>(a.take(request.limitc * sizeof(limit), alignof(limit)));
  l->cwd_ = a.text(request.cwd);
  for (std::uint32_t i = 0; i < request.argc; ++i) l->argv_[i] = a.text(fields.bytes());
  for (std::size_t i = 0; i < inherited; ++i) l->envp_[i] = environment[i];
  for (std::uint32_t i = 0; i < request.envc; ++i) l->envp_[inherited + i] = a.text(fields.bytes());
  std::size_t count = apply_changes(l->envp_, inherited, request.envc);
  for (; l->limit_count_ < request.limitc; ++l->limit_count_) {
    const auto kind = static_cast<wire::limit>(fields.u32());
    l->limits_[l->limit_count_] = {kind, fields.u64()};
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
  // A longer name is that of no file: exec says so, wherever it looks.
  is_searched_ = !program.empty() && program.size() <= NAME_MAX && program.find('/') == std::string_view::npos;
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

void launch::fail(wire::start_step step, long error, std::uint32_t detail) const {
  const std::uint32_t words[3] = {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(-error), detail};
  raw_syscall(SYS_write, is_clean_ ? report_in_child : report, raw_pointer(words), sizeof words);
  for (;;) raw_syscall(SYS_exit_group, 127);
}

namespace {

int resource_of(wire::limit kind) {
  if (kind == wire::limit::memory) return RLIMIT_DATA;
  if (kind == wire::limit::cpu_time) return RLIMIT_CPU;
  if (kind == wire::limit::file_size) return RLIMIT_FSIZE;
  return kind == wire::limit::processes ? RLIMIT_NPROC : RLIMIT_NOFILE;
}

long set_limit(wire::limit kind, std::uint64_t number) {
  rlimit64 value{number, number};
  // SIGXCPU at the soft one may be caught; KILL follows at the hard one, which may be as high as the one before at most.
  const bool has_second = kind == wire::limit::cpu_time && number < RLIM64_INFINITY - 1;
  if (has_second) ++value.rlim_max;
  const long r = raw_syscall(SYS_prlimit64, 0, resource_of(kind), raw_pointer(&value), 0);
  if (!has_second || r != -EPERM) return r;
  value.rlim_max = number;
  return raw_syscall(SYS_prlimit64, 0, resource_of(kind), raw_pointer(&value), 0);
}

long add_to_niceness(std::uint64_t number) {
  constexpr long kernel_bias = 20;  // getpriority gives 20 - niceness, so that it is no error
  const auto more = static_cast<std::int64_t>(number);
  const long now = raw_syscall(SYS_getpriority, PRIO_PROCESS, 0);
  if (now < 0) return now;
  const long bounded = more < -40 ? -40 : more > 40 ? 40 : static_cast<long>(more);
  return raw_syscall(SYS_setpriority, PRIO_PROCESS, 0, kernel_bias - now + bounded);
}

}  // namespace

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

  // Before anything that could be counted.
  if (cgroup >= 0) {
    r = raw_syscall(SYS_write, cgroup, raw_pointer("0"), 1);
    if (r < 0) fail(start_step::cgroup, r);
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
  set_limits();
  const std::uint64_t no_signals = 0;
  raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, raw_pointer(&no_signals), 0, sizeof no_signals);
}

void launch::set_limits() const {
  for (std::size_t i = 0; i < limit_count_; ++i) {
    const limit& l = limits_[i];
    const long r = l.kind == wire::limit::nice ? add_to_niceness(l.number) : set_limit(l.kind, l.number);
    if (r < 0) fail(wire::start_step::limits, r, static_cast<std::uint32_t>(l.kind));
  }
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
