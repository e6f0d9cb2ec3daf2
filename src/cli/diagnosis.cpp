#include "cli/diagnosis.hpp"

#include "isolation/bwrap_failure.hpp"
#include "os/cgroup_place.hpp"
#include "os/unique_fd.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <optional>

namespace berth::cli {
namespace {

std::optional<std::string> read_word(const char* path) {
  std::ifstream file(path);
  std::string word;
  return file >> word ? std::optional(word) : std::nullopt;
}

std::string because(int error) { return std::strerror(error); }

finding kernel() {
  utsname about{};
  ::uname(&about);
  const std::string name = fmt::format("{} {}, {}", about.sysname, about.release, about.machine);
  const int self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
  const bool has_pidfd = self >= 0;
  if (has_pidfd) ::close(self);
  if (!has_pidfd)
    return {"kernel", health::broken, name + ": no pidfd_open",
            "Linux 5.9 or later; in a container, a seccomp profile that allows it"};
  // With a range that is empty: is the call there?
  if (::syscall(SYS_close_range, ~0U, ~0U, 0) != 0 && errno == ENOSYS)
    return {"kernel", health::broken, name + ": no close_range",
            "Linux 5.9 or later; in a container, a seccomp profile that allows it"};
  return {"kernel", health::ok, name};
}

finding proc() {
  const std::string children = fmt::format("/proc/self/task/{}/children", ::getpid());
  if (::access("/proc/self/stat", R_OK) != 0)
    return {"proc", health::broken, "/proc is not mounted: trees cannot be ended", "mount -t proc proc /proc"};
  if (::access(children.c_str(), R_OK) != 0)
    return {"proc", health::limited, "no children files: all of /proc is read to end a tree, which is slower",
            "a kernel with CONFIG_PROC_CHILDREN"};
  return {"proc", health::ok, "mounted, with children files"};
}

finding memfd() {
  constexpr unsigned exec_flag = 0x10;  // MFD_EXEC
  int fd = static_cast<int>(::syscall(SYS_memfd_create, "berth", MFD_CLOEXEC | exec_flag));
  if (fd < 0 && errno == EINVAL) fd = ::memfd_create("berth", MFD_CLOEXEC);
  const unique_fd memory(fd);
  if (memory) return {"memfd", health::ok, "programs run from memory"};
  return {"memfd", health::limited, because(errno) + ": the resident is written to a temporary file",
          "sysctl vm.memfd_noexec=0"};
}

finding temporary_folder() {
  const char* const chosen = ::getenv("TMPDIR");
  const std::string folder = chosen != nullptr && *chosen != '\0' ? chosen : "/tmp";
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return {"temporary folder", health::limited, folder + ": " + because(errno),
            "set TMPDIR to a folder that can be written"};
  struct statfs about {};
  ::statfs(folder.c_str(), &about);
  constexpr long noexec = 8;  // ST_NOEXEC
  const bool runs = (about.f_flags & noexec) == 0;
  return {"temporary folder", health::ok, folder + (runs ? "" : ", mounted noexec (needed only without memfd)")};
}

finding terminals() {
  const unique_fd master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  if (master) return {"terminals", health::ok, "PTYs can be opened"};
  return {"terminals", health::broken, "/dev/ptmx: " + because(errno),
          "mount -t devpts devpts /dev/pts; raise sysctl kernel.pty.max"};
}

finding shells() {
  if (::access("/bin/sh", X_OK) != 0)
    return {"shells", health::broken, "/bin/sh: " + because(errno),
            "install a shell, or use command words instead of shell text"};
  const passwd* const user = ::getpwuid(::geteuid());
  if (user == nullptr)
    return {"shells", health::limited, fmt::format("/bin/sh; user {} has no entry in passwd", ::geteuid()),
            "set SHELL, or add the user to /etc/passwd"};
  const std::string login = user->pw_shell;
  if (!login.empty() && ::access(login.c_str(), X_OK) != 0)
    return {"shells", health::limited, "login shell " + login + ": " + because(errno), "chsh -s /bin/sh"};
  return {"shells", health::ok, "/bin/sh; login shell " + (login.empty() ? "/bin/sh" : login)};
}

finding pipes() {
  constexpr int wanted = 1 << 20;
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0)
    return {"pipes", health::broken, because(errno), "close descriptors, or raise ulimit -n"};
  const unique_fd in(ends[0]);
  const unique_fd out(ends[1]);
  const int first = ::fcntl(ends[0], F_GETPIPE_SZ);
  const int raised = ::fcntl(ends[0], F_SETPIPE_SZ, wanted);
  const std::string cure = "raise sysctl fs.pipe-user-pages-soft and fs.pipe-max-size";
  if (first < 1 << 16)
    return {"pipes", health::limited, fmt::format("{} bytes: this user's share of pipe memory is used up", first),
            cure};
  if (raised < wanted)
    return {"pipes", health::limited, "64 KiB, and they cannot be raised to 1 MiB: fast streams are slower", cure};
  return {"pipes", health::ok, "64 KiB, raised to 1 MiB for fast streams"};
}

finding descriptors() {
  constexpr rlim_t few = 1024;
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  const std::string detail = fmt::format("{} at once ({} at most)", files.rlim_cur, files.rlim_max);
  if (files.rlim_cur >= few) return {"descriptors", health::ok, detail};
  return {"descriptors", health::limited, detail + "; a running command takes up to three", "ulimit -n 1024"};
}

finding user_namespaces() {
  const namespace_settings now = read_namespace_settings();
  std::string cure = "in a container, a seccomp profile that allows them";
  if (now.apparmor_restricts) cure = "the AppArmor profile bwrap-userns-restrict of apparmor-profiles";
  if (now.userns_clone_off) cure = "sysctl kernel.unprivileged_userns_clone=1";
  if (now.no_user_namespaces) cure = "sysctl user.max_user_namespaces=10000";
  // As fork would do it: the child only ends.
  const long child = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) ::_exit(0);
  if (child < 0) return {"user namespaces", health::limited, because(errno) + ": no kernel sandbox without root", cure};
  ::waitpid(static_cast<pid_t>(child), nullptr, 0);
  return {"user namespaces", health::ok, "can be made"};
}

finding file_watches() {
  constexpr int few = 8192;
  const auto most = read_word("/proc/sys/fs/inotify/max_user_watches");
  if (!most)
    return {"file watches", health::limited, "no inotify: files cannot be watched",
            "a kernel with CONFIG_INOTIFY_USER"};
  if (std::atoi(most->c_str()) >= few) return {"file watches", health::ok, *most + " directories of this user"};
  return {"file watches", health::limited, *most + " directories of this user",
          "sysctl fs.inotify.max_user_watches=65536"};
}

finding cgroups() {
  const cgroup_place place = find_cgroup_place();
  if (!place.any())
    return {"cgroups", health::limited, place.why_not + ": limits hold for each process, not for a command as a whole",
            place.cure};
  const std::string below = "below " + place.path;
  if (place.memory && place.processes)
    return {"cgroups", health::ok, "memory and processes of a whole command are limited " + below};
  const std::string what = place.memory ? "only memory" : "only processes";
  return {"cgroups", health::limited, what + " of a whole command, " + below + "; " + place.why_not, place.cure};
}

}  // namespace

std::vector<finding> examine_host() {
  std::vector<finding> all;
  for (const auto check : {kernel, proc, memfd, temporary_folder, shells, terminals, pipes, descriptors, file_watches,
                           user_namespaces, cgroups}) {
    all.push_back(check());
  }
  return all;
}

}  // namespace berth::cli
