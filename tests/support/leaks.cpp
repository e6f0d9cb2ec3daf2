#include "support/leaks.hpp"

#include "support/cgroups.hpp"
#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <thread>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

constexpr const char* mark = "BERTH_TEST_ID";

std::multiset<std::string> open_descriptors() {
  std::multiset<std::string> targets;
  std::error_code ignored;
  std::vector<fs::path> links;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd", ignored)) links.push_back(entry.path());
  // The listing's own descriptor is closed by now: its link is gone.
  for (const fs::path& link : links) {
    const fs::path target = fs::read_symlink(link, ignored);
    // The library keeps the resident's program open for as long as this process lives.
    const bool is_image = target.string().starts_with("/memfd:berth-resident");
    if (!ignored && !is_image) targets.insert(target.string());
  }
  return targets;
}

std::set<std::string> entries_of(const fs::path& directory) {
  std::set<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) names.insert(entry.path().filename().string());
  return names;
}

std::vector<pid_t> children_of_this() {
  std::vector<pid_t> children;
  for (const process_info& process : all_processes()) {
    if (process.parent == getpid()) children.push_back(process.pid);
  }
  return children;
}

/// Only root starts processes of other users, and only root can read their marks.
bool is_foreign(pid_t pid) {
  struct stat seen = {};
  const bool found = stat(("/proc/" + std::to_string(pid)).c_str(), &seen) == 0;
  return geteuid() != 0 && found && seen.st_uid != geteuid();
}

/// A tagged process with neither our mark nor another test's: it is another test's if the first of its ancestors that
/// carries no tag is a resident that is none of ours.
bool belongs_to_another(const process_info& process, const std::map<pid_t, process_info>& all, const std::string& id) {
  if (is_foreign(process.pid)) return true;
  const process_info* at = &process;
  for (int depth = 0; depth < 1000; ++depth) {
    const auto parent = all.find(at->parent);
    if (parent == all.end()) return false;
    at = &parent->second;
    if (tag_of(at->pid) == 0) break;
  }
  const std::string its_mark = variable_of(at->pid, mark);
  if (!its_mark.empty()) return its_mark != id;
  pid_t owner = at->parent;
  const std::string line = command_line_of(at->pid);
  const bool is_isolated = line.find(" isolated ") != std::string::npos;  // the child of a launcher
  if (is_isolated) {
    const auto launcher = all.find(owner);
    if (launcher != all.end()) owner = launcher->second.parent;
  }
  return owner != getpid() && (is_isolated || line.find("resident") != std::string::npos);
}

/// Of another user, as whom we could have started nothing.
bool is_out_of_reach(pid_t pid) {
  struct stat about {};
  if (geteuid() == 0 || stat(("/proc/" + std::to_string(pid)).c_str(), &about) != 0) return false;
  return about.st_uid != geteuid();
}

}  // namespace

leak_check::leak_check() {
  static int count = 0;
  id_ = std::to_string(getpid()) + "-" + std::to_string(++count);
  private_temporary_directory();
  for (const pid_t child : children_of_this()) children_.insert(child);
  for (const process_info& process : all_processes()) {
    if (tag_of(process.pid) != 0) tagged_.insert(process.pid);
  }
  temporary_ = entries_of(private_temporary_directory());
  for (const std::string& path : cgroups_with()) cgroups_.insert(path);
  descriptors_ = open_descriptors();
  setenv(mark, id_.c_str(), 1);
}

leak_check::~leak_check() { unsetenv(mark); }

std::vector<pid_t> leak_check::processes_left() const {
  std::map<pid_t, process_info> all;
  for (process_info& process : all_processes()) all.emplace(process.pid, process);
  std::vector<pid_t> left;
  for (const auto& [pid, process] : all) {
    if (pid == getpid() || ignored_.contains(pid)) continue;
    const bool is_child = process.parent == getpid();
    if (is_child && !children_.contains(pid)) left.push_back(pid);
    if (is_child || process.dead() || is_out_of_reach(pid)) continue;
    const std::string its_mark = variable_of(pid, mark);
    const bool tagged = its_mark.empty() && !tagged_.contains(pid) && tag_of(pid) != 0;
    if (its_mark == id_ || (tagged && !belongs_to_another(process, all, id_))) left.push_back(pid);
  }
  return left;
}

std::vector<pid_t> leak_check::commands() const {
  std::vector<pid_t> found = processes_left();
  const std::vector<pid_t> children = children_of_this();
  std::erase_if(found, [&](pid_t pid) { return std::find(children.begin(), children.end(), pid) != children.end(); });
  return found;
}

std::vector<std::string> leak_check::files_left() const {
  std::vector<std::string> left;
  const auto descriptors = open_descriptors();
  std::vector<std::string> more;
  std::set_difference(descriptors.begin(), descriptors.end(), descriptors_.begin(), descriptors_.end(),
                      std::back_inserter(more));
  for (const std::string& target : more) left.push_back("left open: " + target);
  for (const std::string& name : entries_of(private_temporary_directory())) {
    if (!temporary_.contains(name)) left.push_back("left in the directory for temporary files: " + name);
  }
  return left;
}

std::vector<std::string> leak_check::cgroups_left() const {
  std::vector<std::string> left;
  for (const std::string& path : cgroups_with()) {
    const std::string number = path.substr(path.rfind("berth-") + 6);
    const pid_t resident = static_cast<pid_t>(std::strtol(number.c_str(), nullptr, 10));
    const std::vector<pid_t> children = children_of_this();
    const bool is_ours = std::find(children.begin(), children.end(), resident) != children.end();
    if (!cgroups_.contains(path) && (is_ours || !is_alive(resident))) left.push_back("left: " + path);
  }
  return left;
}

std::vector<std::string> leak_check::left_over(std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::vector<pid_t> processes = processes_left();
  std::vector<std::string> left = files_left();
  std::vector<std::string> cgroups = cgroups_left();
  while (!(processes.empty() && left.empty() && cgroups.empty()) && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    processes = processes_left();
    left = files_left();
    cgroups = cgroups_left();
  }
  left.insert(left.end(), cgroups.begin(), cgroups.end());
  for (const process_info& process : all_processes()) {
    if (std::find(processes.begin(), processes.end(), process.pid) == processes.end()) continue;
    left.push_back("left running: " + describe(process));
    kill(process.pid, SIGKILL);
    if (process.parent == getpid()) waitpid(process.pid, nullptr, 0);
  }
  return left;
}

}  // namespace berth::test
