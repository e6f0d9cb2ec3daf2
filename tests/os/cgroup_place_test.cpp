#include "os/cgroup_place.hpp"

#include "support/cgroups.hpp"
#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>

namespace berth::test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// A hierarchy as files: enough for what only looks.
class fake_hierarchy {
 public:
  explicit fake_hierarchy(const std::string& own, const std::string& root = "/") {
    fs::create_directories(at("proc"));
    write("proc/mountinfo", "22 1 0:5 / /proc rw - proc proc rw\n38 31 0:38 " + root + " " + at("mount") +
                                " rw,relatime shared:1 - cgroup2 cgroup2 rw\n");
    write("proc/cgroup", "4:memory:/elsewhere\n0::" + own + "\n");
  }

  /// `root`: it has no cgroup.events.
  void add(const std::string& path, const std::string& available, const std::string& enabled, bool root = false) {
    fs::create_directories(at("mount" + path));
    write("mount" + path + "/cgroup.controllers", available + "\n");
    write("mount" + path + "/cgroup.subtree_control", enabled + "\n");
    write("mount" + path + "/cgroup.procs", "");
    if (!root) write("mount" + path + "/cgroup.events", "populated 1\n");
  }

  cgroup_place find() const { return find_cgroup_place(at("proc")); }
  std::string at(const std::string& path) const { return folder_ / path; }

 private:
  void write(const std::string& path, const std::string& text) { std::ofstream(at(path)) << text; }

  temp_dir folder_;
};

TEST_CASE("cgroup place: the root of all can be divided though we are in it") {
  fake_hierarchy here("/");
  here.add("", "cpu memory pids", "cpu pids", true);
  const cgroup_place place = here.find();
  CHECK(place.path == here.at("mount"));
  CHECK(place.memory);
  CHECK(place.processes);
  CHECK(place.to_enable == std::vector<std::string>{"memory"});
}

TEST_CASE("cgroup place: elsewhere it is the parent, with what that has switched on") {
  fake_hierarchy here("/user.slice/app.slice/run-1.scope");
  here.add("/user.slice/app.slice", "memory pids", "memory pids");
  here.add("/user.slice/app.slice/run-1.scope", "memory pids", "");
  const cgroup_place place = here.find();
  CHECK(place.path == here.at("mount/user.slice/app.slice"));
  CHECK(place.memory);
  CHECK(place.processes);
  CHECK(place.to_enable.empty());
  CHECK(place.why_not.empty());
}

TEST_CASE("cgroup place: a parent with one controller serves that limit only, and says what is missing") {
  fake_hierarchy here("/a/b");
  here.add("/a", "pids", "pids");
  here.add("/a/b", "pids", "");
  const cgroup_place place = here.find();
  CHECK(place.any());
  CHECK_FALSE(place.memory);
  CHECK(place.processes);
  CHECK(place.why_not.find("memory is not in cgroup.controllers") == 0);
  CHECK_FALSE(place.cure.empty());
}

TEST_CASE("cgroup place: only part of the hierarchy may be mounted") {
  fake_hierarchy here("/docker/abc/main", "/docker/abc");
  here.add("", "memory pids", "memory pids");
  here.add("/main", "memory pids", "");
  CHECK(here.find().path == here.at("mount"));
  fake_hierarchy outside("/docker/other", "/docker/abc");
  outside.add("", "memory pids", "memory pids");
  CHECK_FALSE(outside.find().any());
  fake_hierarchy above("/../sibling");
  above.add("", "memory pids", "memory pids");
  CHECK_FALSE(above.find().any());
}

TEST_CASE("cgroup place: none for the uppermost cgroup of a container, nor inside of a limited command") {
  fake_hierarchy container("/");
  container.add("", "memory pids", "");
  CHECK_FALSE(container.find().any());
  CHECK(container.find().why_not.find("uppermost") != std::string::npos);
  fake_hierarchy nested("/berth-7-40000001-1");
  nested.add("", "memory pids", "memory pids", true);
  nested.add("/berth-7-40000001-1", "memory pids", "");
  CHECK_FALSE(nested.find().any());
}

TEST_CASE("cgroup place: none where nothing is mounted, or may be written") {
  temp_dir empty;
  CHECK(find_cgroup_place(empty.path().string()).why_not == "no cgroup2 is mounted");
  if (::geteuid() == 0) {
    std::printf("SKIPPED: cgroup place: none where nothing is mounted, or may be written: root may write\n");
    return;
  }
  fake_hierarchy here("/a/b");
  here.add("/a", "memory pids", "memory pids");
  here.add("/a/b", "memory pids", "");
  ::chmod(here.at("mount/a").c_str(), 0555);
  CHECK(here.find().why_not == here.at("mount/a") + ": Permission denied");
  ::chmod(here.at("mount/a").c_str(), 0755);
}

pid_t sleeper_in(const std::string& path) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    for (;;) ::pause();
  }
  std::ofstream(path + "/cgroup.procs") << pid << std::flush;
  return pid;
}

TEST_CASE("cgroup sweep: it ends what is in those of one resident, and removes them") {
  const std::string ground = cgroup_ground();
  const std::string prefix = cgroup_prefix(static_cast<std::uint32_t>(::getpid()), 0x5eed);
  const std::string first = ground + "/" + prefix + "1";
  if (ground.empty() || ::mkdir(first.c_str(), 0755) != 0) {
    std::printf("SKIPPED: cgroup sweep: no cgroup2 that may be written to\n");
    return;
  }
  const std::string below = first + "/below";
  const std::string other = ground + "/berth-" + std::to_string(::getpid()) + "-5eee-1";
  CHECK(::mkdir(below.c_str(), 0755) == 0);
  CHECK(::mkdir((ground + "/" + prefix + "2").c_str(), 0755) == 0);
  CHECK(::mkdir(other.c_str(), 0755) == 0);
  const pid_t inside = sleeper_in(below);
  CHECK(proc_file(inside, "cgroup").find(prefix + "1/below") != std::string::npos);
  CHECK(sweep_cgroups(ground, prefix, 10s));
  CHECK(cgroups_with(prefix).empty());
  int status = 0;
  CHECK(::waitpid(inside, &status, 0) == inside);
  CHECK(WTERMSIG(status) == SIGKILL);
  CHECK(::rmdir(other.c_str()) == 0);
}

TEST_CASE("cgroup place: made ready, it has its controllers, and nothing of residents that are no more") {
  if (!has_whole_limits("cgroup place: made ready")) return;
  const pid_t gone = ::fork();
  if (gone == 0) ::_exit(0);
  CHECK(::waitpid(gone, nullptr, 0) == gone);
  const std::string stale = cgroup_ground() + "/berth-" + std::to_string(gone) + "-1-1";
  const std::string used = cgroup_ground() + "/berth-" + std::to_string(::getpid()) + "-1-1";
  CHECK(::mkdir(stale.c_str(), 0755) == 0);
  CHECK(::mkdir(used.c_str(), 0755) == 0);
  const cgroup_place place = prepare_cgroup_place();
  CHECK(place.why_not.empty());
  CHECK(::access(stale.c_str(), F_OK) != 0);
  CHECK(::access((used + "/memory.max").c_str(), W_OK) == 0);
  CHECK(::access((used + "/pids.max").c_str(), W_OK) == 0);
  CHECK(::rmdir(used.c_str()) == 0);
}

}  // namespace
}  // namespace berth::test
