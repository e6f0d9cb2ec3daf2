#include "isolation/bwrap.hpp"

#include "berth/error.hpp"
#include "isolation/paths.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_words = 9000;  // of bwrap, in all

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
    for (const std::string& each : plan.masked_directories) mask_directory(each);
    for (const std::string& each : plan.tmp_at) add("--bind", plan.tmp, each);
  }

  void roots(const isolation_plan& plan) {
    for (const std::string& each : plan.roots) {
      if (each != "/") add("--bind", each, each);
    }
    for (const std::string& each : plan.pinned) add("--bind", each, each);
    for (const std::string& each : plan.protected_paths) add("--ro-bind", each, each);
    for (const std::string& each : plan.masked_directories) {
      const std::string* root = directory_of(each, plan.roots);
      if (root != nullptr && *root != "/" && *root != each) mask_directory(each);
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
  void mask_directory(const std::string& path) { add("--perms", "0755", "--tmpfs", path); }

  /// Below the private /tmp, and no root brings it back: there is nothing to lie on.
  static bool is_hidden(const std::string& path, const isolation_plan& plan) {
    return directory_of(path, plan.tmp_at) != nullptr && directory_of(path, plan.roots) == nullptr;
  }

  std::vector<std::string> list_;
};

/// Whatever is in its place and no directory goes.
void make_directory(const fs::path& path) {
  std::error_code code;
  if (fs::is_directory(fs::symlink_status(path, code))) return;
  fs::remove_all(path);
  fs::create_directory(path);
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
  for (const std::string& root : plan.roots) {
    for (const std::string& above : plan.tmp_at) {
      if (!is_at_or_below(root, above) || root == above) continue;
      fs::path at = plan.tmp;
      const fs::path rest = root.substr(above.size() + 1);
      for (auto part = rest.begin(); part != rest.end(); ++part) {
        at /= *part;
        const bool last = std::next(part) == rest.end();
        std::error_code code;
        if (!last || fs::is_directory(root, code)) {
          make_directory(at);
        } else if (!fs::is_regular_file(fs::symlink_status(at, code))) {
          fs::remove_all(at);
          std::ofstream(at.string());  // a root that is no directory lies on a file
        }
      }
    }
  }
}

}  // namespace berth
