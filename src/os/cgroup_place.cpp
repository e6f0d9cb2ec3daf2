#include "os/cgroup_place.hpp"

#include "os/unique_fd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>

namespace berth {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::string_view our_name = "berth-";

std::vector<std::string> words_of(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> words;
  for (std::string word; file >> word;) words.push_back(word);
  return words;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

struct hierarchy {
  std::string mount;
  std::string own;  ///< directory of this process
  bool is_seen = false;
};

// "31 23 0:28 /root /mount/point rw,relatime shared:1 - cgroup2 cgroup2 rw". Spaces in paths are written \040; such a
// mount point is passed over.
std::optional<hierarchy> mounted_hierarchy(const std::string& proc) {
  std::ifstream mounts(proc + "/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    const auto dash = line.find(" - cgroup2 ");
    if (dash == line.npos) continue;
    std::istringstream fields(line.substr(0, dash));
    std::string skipped, root;
    hierarchy found;
    fields >> skipped >> skipped >> skipped >> root >> found.mount;
    if (found.mount.find('\\') != found.mount.npos) continue;
    std::ifstream own(proc + "/cgroup");
    for (std::string path; std::getline(own, path);) {
      if (!path.starts_with("0::/")) continue;
      path.erase(0, 3);
      if (root == "/") root.clear();
      // Outside of what is mounted, or of the namespace, nothing can be made.
      const bool is_below = path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
      found.is_seen = is_below && path.find("/..") == path.npos;
      path.erase(0, is_below ? root.size() : 0);
      found.own = path == "/" ? found.mount : found.mount + path;
    }
    return found;
  }
  return std::nullopt;
}

bool may(const std::string& path, int what) { return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0; }

// Every cgroup but the root of all has this file.
bool is_real_root(const std::string& path) { return !may(path + "/cgroup.events", F_OK); }

bool is_own_directory(const std::string& path) {
  struct stat about {};
  return ::stat(path.c_str(), &about) == 0 && about.st_uid == ::geteuid();
}

cgroup_place nowhere(std::string why, std::string cure) {
  cgroup_place none;
  none.why_not = std::move(why);
  none.cure = std::move(cure);
  return none;
}

const char* const delegate =
    "systemd-run --user --scope PROGRAM; for a service, Delegate=yes and DelegateSubgroup=main; or root";

void note(cgroup_place& place, const std::string& why, std::string cure) {
  place.why_not += (place.why_not.empty() ? "" : ", ") + why;
  place.cure = std::move(cure);
}

/// Whether a limit by that controller can be had in the directory.
bool offers(cgroup_place& place, const std::string& controller) {
  if (has(words_of(place.path + "/cgroup.subtree_control"), controller)) return true;
  if (!has(words_of(place.path + "/cgroup.controllers"), controller)) {
    note(place, controller + " is not in cgroup.controllers of " + place.path,
         is_real_root(place.path) ? "a kernel with it, and no cgroup v1 (systemd.unified_cgroup_hierarchy=1)"
                                  : "Delegate=yes for the service, or a container that is given it");
    return false;
  }
  if (!is_own_directory(place.path) || !may(place.path + "/cgroup.subtree_control", W_OK)) {
    note(place, controller + " is not switched on in " + place.path,
         "echo +" + controller + " >" + place.path + "/cgroup.subtree_control, as root");
    return false;
  }
  place.to_enable.push_back(controller);
  return true;
}

bool write_to(const std::string& path, std::string_view text) {
  const unique_fd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) >= 0;
}

std::vector<std::string> directories_in(const std::string& path, std::string_view prefix) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir(path.c_str()), &::closedir);
  while (const dirent* entry = all ? ::readdir(all.get()) : nullptr) {
    const std::string_view name(entry->d_name);
    if (entry->d_type == DT_DIR && name[0] != '.' && name.starts_with(prefix))
      names.push_back(path + "/" + entry->d_name);
  }
  return names;
}

bool remove_tree(const std::string& path) {
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
  for (const std::string& below : directories_in(path, {})) remove_tree(below);
  return ::rmdir(path.c_str()) == 0;
}

void remove_stale(const std::string& parent) {
  for (const std::string& path : directories_in(parent, our_name)) {
    const std::string_view number = std::string_view(path).substr(parent.size() + 1 + our_name.size());
    pid_t pid = 0;
    std::from_chars(number.data(), number.data() + number.size(), pid);
    if (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) ::rmdir(path.c_str());  // refused where something lives in it
  }
}

}  // namespace

cgroup_place find_cgroup_place(const std::string& proc) {
  const auto found = mounted_hierarchy(proc);
  if (!found) return nowhere("no cgroup2 is mounted", "mount -t cgroup2 none /sys/fs/cgroup");
  if (!found->is_seen)
    return nowhere("the cgroup of this process is not below " + found->mount, "a cgroup namespace, or no cgroup v1");
  cgroup_place place;
  place.path = found->own;
  if (!is_real_root(found->own)) {
    const std::string name = found->own.substr(found->own.rfind('/') + 1);
    if (found->own == found->mount)
      return nowhere(
          "this process is in the uppermost cgroup that it can see, which cannot be divided then",
          "a writable /sys/fs/cgroup, and the program in a cgroup below it: mkdir /sys/fs/cgroup/main; echo $$ "
          ">/sys/fs/cgroup/main/cgroup.procs; exec PROGRAM");
    // Beside ours it would not count for the command that we are part of.
    if (name.starts_with(our_name))
      return nowhere("this process runs in a cgroup of Berth's, whose limits hold for all that it starts",
                     "set these limits where the outer command is started");
    place.path = found->own.substr(0, found->own.rfind('/'));
  }
  const auto available = words_of(place.path + "/cgroup.controllers");
  const bool is_of_use = has(available, "memory") || has(available, "pids");
  // A process is moved by whoever may write to the nearest cgroup that has both ends in it.
  for (const std::string& needed : {place.path, place.path + "/cgroup.procs"}) {
    if (is_of_use && !may(needed, W_OK)) return nowhere(needed + ": " + std::strerror(errno), delegate);
  }
  place.memory = offers(place, "memory");
  place.processes = offers(place, "pids");
  return place;
}

cgroup_place prepare_cgroup_place() {
  cgroup_place place = find_cgroup_place();
  if (!place.any()) return place;
  for (const std::string& controller : place.to_enable) {
    if (write_to(place.path + "/cgroup.subtree_control", "+" + controller)) continue;
    (controller == "memory" ? place.memory : place.processes) = false;
    note(place, controller + " cannot be switched on in " + place.path + ": " + std::strerror(errno), {});
  }
  remove_stale(place.path);
  return place;
}

std::string cgroup_prefix(std::uint32_t pid, std::uint32_t nonce) {
  std::ostringstream name;
  name << our_name << pid << '-' << std::hex << nonce << '-';
  return name.str();
}

bool sweep_cgroups(const std::string& parent, const std::string& prefix, std::chrono::milliseconds limit) {
  const auto deadline = clock::now() + limit;
  for (;;) {
    bool is_clean = true;
    for (const std::string& path : directories_in(parent, prefix)) {
      write_to(path + "/cgroup.kill", "1");
      is_clean = remove_tree(path) && is_clean;
    }
    if (is_clean || clock::now() >= deadline) return is_clean;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

}  // namespace berth
