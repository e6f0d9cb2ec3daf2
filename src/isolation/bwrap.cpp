#include "isolation/bwrap.hpp"

#include "berth/error.hpp"
#include "core/paths.hpp"
#include "core/syscall.hpp"
#include "os/unique_fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_words = 9000;  // of bwrap, in all

/// For roots that come to lie in the private /tmp: what it is seen as, and the path below.
template <class Function>
void for_each_root_in_tmp(const isolation_plan& plan, Function function) {
  for (const std::string& root : plan.roots) {
    for (const std::string& above : plan.tmp_at) {
      if (is_at_or_below(root, above) && root != above) function(above, root.substr(above.size() + 1));
    }
  }
}

class argument_list {
 public:
  template <class... Words>
  void add(Words&&... words) {
    (list_.emplace_back(std::forward<Words>(words)), ...);
  }

  void namespaces(const isolation_plan& plan) {
    // Without these words root would keep every capability and get no user namespace.
    add("--unshare-user", "--disable-userns", "--cap-drop", "ALL");
    add("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try");
    if (plan.network == access_rule::deny) add("--unshare-net");
  }

  void base(const isolation_plan& plan) {
    const bool all_writable = directory_of("/", plan.roots) != nullptr;
    add(all_writable ? "--bind" : "--ro-bind", "/", "/");
    add("--dev", "/dev", "--proc", "/proc");
    // For user 0 these files ask for nothing but that user.
    add("--ro-bind", "/proc/sys", "/proc/sys");
    add("--ro-bind-try", "/proc/sysrq-trigger", "/proc/sysrq-trigger");
    if (all_writable) add("--ro-bind", "/sys", "/sys");
    for (const std::string& each : plan.masked_directories) {
      if (!is_in_root(each, plan)) mask_directory(each);
    }
    for (const std::string& each : plan.tmp_at) add("--bind", plan.tmp, each);
    pin_in_tmp(plan);
  }

  void roots(const isolation_plan& plan) {
    for (const std::string& each : plan.roots) {
      if (each != "/") add("--bind", each, each);
    }
    for (const std::string& each : plan.pinned) add("--bind", each, each);
    for (const std::string& each : plan.protected_paths) add("--ro-bind", each, each);
    for (const std::string& each : plan.masked_directories) {
      if (is_in_root(each, plan)) mask_directory(each);
    }
    for (const std::string& each : plan.masked_sockets) {
      if (!is_hidden(each, plan)) add("--ro-bind", "/dev/null", each);
    }
  }

  void environment(const std::vector<std::string>& env) {
    add("--clearenv");
    for (const std::string& each : env) {
      const auto end = each.find('=');
      if (end != 0 && end != each.npos) add("--setenv", each.substr(0, end), each.substr(end + 1));
    }
  }

  std::vector<std::string> take() {
    if (list_.size() > most_words)
      throw error(make_error_code(errc::limit_exceeded),
                  "isolation: bwrap takes at most 9000 words, and the roots, "
                  "protected paths and environment variables are more");
    return std::move(list_);
  }

 private:
  /// What holds a root in the private /tmp cannot be renamed, so that another sandbox finds its mount points where they were.
  void pin_in_tmp(const isolation_plan& plan) {
    std::set<std::string> pinned;
    for_each_root_in_tmp(plan, [&](const std::string& above, const std::string& rest) {
      for (auto end = rest.find('/'); end != rest.npos; end = rest.find('/', end + 1)) {
        const std::string part = "/" + rest.substr(0, end);
        if (pinned.insert(above + part).second) add("--bind", plan.tmp + part, above + part);
      }
    });
  }

  void mask_directory(const std::string& path) { add("--perms", "0755", "--tmpfs", path); }

  /// A root, or a pin in it, would lie over its mask.
  static bool is_in_root(const std::string& path, const isolation_plan& plan) {
    const std::string* const root = directory_of(path, plan.roots);
    return root != nullptr && *root != path;
  }

  /// Below the private /tmp, and no root brings it back: there is nothing to lie on.
  static bool is_hidden(const std::string& path, const isolation_plan& plan) {
    return directory_of(path, plan.tmp_at) != nullptr && directory_of(path, plan.roots) == nullptr;
  }

  std::vector<std::string> list_;
};

constexpr int position_flags = O_PATH | O_NOFOLLOW | O_CLOEXEC;

/// The entry, which is a directory: whatever is in its place and none goes. Never through a link: a command may be at work there.
unique_fd directory_in(int above, const std::string& name) {
  constexpr mode_t all_bits = 0777;
  unique_fd found(::openat(above, name.c_str(), position_flags | O_DIRECTORY));
  if (found) return found;
  const bool is_other = errno == ENOTDIR || errno == ELOOP;
  if (!is_other && errno != ENOENT) check_syscall(-1, "a mount point in the private /tmp");
  if (is_other) ::unlinkat(above, name.c_str(), 0);
  check_syscall(::mkdirat(above, name.c_str(), all_bits), "a mount point in the private /tmp");
  found.reset(check_syscall(::openat(above, name.c_str(), position_flags | O_DIRECTORY), "a mount point"));
  return found;
}

/// A root that is no directory lies on a file.
void make_file_in(int above, const std::string& name) {
  struct stat found {};
  if (::fstatat(above, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0) {
    if (S_ISREG(found.st_mode)) return;
    ::unlinkat(above, name.c_str(), S_ISDIR(found.st_mode) ? AT_REMOVEDIR : 0);
  }
  constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
  const unique_fd made(
      check_syscall(::openat(above, name.c_str(), flags, S_IRUSR | S_IWUSR), "a mount point in the private /tmp"));
}

bool is_directory(const std::string& path) {
  std::error_code code;
  return fs::is_directory(path, code);
}

}  // namespace

std::vector<std::string> bwrap_arguments(const isolation_plan& plan, const std::vector<std::string>& env,
                                         std::optional<int> filter_fd) {
  argument_list all;
  all.namespaces(plan);
  all.base(plan);
  all.roots(plan);
  all.add("--new-session", "--as-pid-1");
  if (filter_fd) all.add("--seccomp", std::to_string(*filter_fd));
  all.environment(env);
  all.add("--chdir", "/");
  return all.take();
}

void make_mount_points(const isolation_plan& plan) {
  for_each_root_in_tmp(plan, [&plan](const std::string& above, const std::string& rest) {
    unique_fd at(check_syscall(::open(plan.tmp.c_str(), position_flags | O_DIRECTORY), "private /tmp"));
    for (std::size_t begin = 0, end = 0; end != rest.npos; begin = end + 1) {
      end = rest.find('/', begin);
      const std::string name = rest.substr(begin, end == rest.npos ? end : end - begin);
      if (end == rest.npos && !is_directory(above + "/" + rest)) return make_file_in(at.get(), name);
      at = directory_in(at.get(), name);
    }
  });
}

std::vector<std::string> mount_points(const isolation_plan& plan) {
  std::vector<std::string> all;
  for_each_root_in_tmp(
      plan, [&all](const std::string& above, const std::string& rest) { all.push_back(above + "/" + rest); });
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace berth
