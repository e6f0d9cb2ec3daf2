#include "resident/client.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <sstream>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::limit;
using wire::start_step;

namespace {

using limits = std::vector<std::pair<limit, std::uint64_t>>;

start_request limited(std::string text, limits most) {
  start_request request = shell(std::move(text));
  request.limits = std::move(most);
  return request;
}

std::string output_of(client& c, std::uint32_t id, const start_request& request) {
  c.run(id, request);
  const std::string text = c.output(id);
  CHECK(c.expect_exit(id).wait_status == 0);
  return text;
}

/// Soft and hard value in a line of /proc/self/limits.
std::string values_of(const std::string& all, const std::string& name) {
  const auto at = all.find(name);
  if (at == all.npos) return "none";
  std::string soft, hard;
  std::istringstream(all.substr(at + name.size())) >> soft >> hard;
  return soft + " " + hard;
}

/// As a user without privileges, with these hard limits.
std::function<void()> as_user(uid_t user, std::vector<std::pair<int, rlim_t>> most) {
  return [user, most] {
    for (const auto& [resource, value] : most) {
      const rlimit both{value, value};
      setrlimit(static_cast<__rlimit_resource>(resource), &both);
    }
    if (setgid(user) != 0 || setuid(user) != 0) _exit(125);
  };
}

}  // namespace

TEST_CASE("limits: each is set, soft and hard, and others stay") {
  client c;
  const std::string before = output_of(c, 1, shell("cat /proc/self/limits"));
  const std::string all = output_of(c, 2,
                                    limited("cat /proc/self/limits", {{limit::memory, 200000000},
                                                                      {limit::cpu_time, 30},
                                                                      {limit::file_size, 4096},
                                                                      {limit::processes, 5000},
                                                                      {limit::open_files, 64}}));
  CHECK(values_of(all, "Max data size") == "200000000 200000000");
  CHECK(values_of(all, "Max cpu time") == "30 31");
  CHECK(values_of(all, "Max file size") == "4096 4096");
  CHECK(values_of(all, "Max processes") == "5000 5000");
  CHECK(values_of(all, "Max open files") == "64 64");
  for (const char* name : {"Max address space", "Max stack size", "Max core file size"})
    CHECK(values_of(all, name) == values_of(before, name));
  const std::string after = output_of(c, 3, shell("cat /proc/self/limits"));
  CHECK(values_of(after, "Max open files") == values_of(before, "Max open files"));
}

TEST_CASE("limits: niceness is added to what the resident has, and ends at 19") {
  client c({.before_exec = [] { setpriority(PRIO_PROCESS, 0, 3); }});
  CHECK(output_of(c, 1, limited("nice", {{limit::nice, 4}})) == "7\n");
  CHECK(output_of(c, 2, limited("nice", {{limit::nice, 1000000}})) == "19\n");
  CHECK(output_of(c, 3, shell("nice")) == "3\n");
}

TEST_CASE("limits: processor time ends a busy loop by SIGXCPU, and by KILL what ignores that") {
  client c;
  c.run(1, limited("while :; do :; done", {{limit::cpu_time, 1}}));
  c.run(2, limited("trap '' XCPU; while :; do :; done", {{limit::cpu_time, 1}}));
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGXCPU);
  CHECK(WTERMSIG(c.expect_exit(2).wait_status) == SIGKILL);
}

TEST_CASE("limits: the signals of limits are at their default, whatever the resident was given") {
  client c({.before_exec = [] {
    signal(SIGXCPU, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
  }});
  temp_dir folder;
  start_request request = limited("exec head -c 100000 /dev/zero >large", {{limit::file_size, 4096}});
  request.cwd = folder.path().string();
  c.run(1, request);
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGXFSZ);
  CHECK(std::filesystem::file_size(folder / "large") == 4096);
}

TEST_CASE("limits: one that may not be raised is a failed start that says which") {
  if (geteuid() != 0) return skip("needs root, to become another user");
  client c({.before_exec = as_user(lone_user(), {{RLIMIT_NOFILE, 100}, {RLIMIT_CPU, 50}})});
  c.start(1, limited("true", {{limit::memory, 1u << 30}, {limit::open_files, 101}}));
  wire::start_failed f = c.expect_failure(1);
  CHECK(f.step == start_step::limits);
  CHECK(static_cast<int>(f.error) == EPERM);
  CHECK(f.detail == static_cast<std::uint32_t>(limit::open_files));
  c.start(2, limited("true", {{limit::nice, static_cast<std::uint64_t>(-1)}}));
  f = c.expect_failure(2);
  CHECK(f.step == start_step::limits);
  CHECK(f.detail == static_cast<std::uint32_t>(limit::nice));
  c.start(3, limited("true", {{limit::cpu_time, 51}}));
  CHECK(c.expect_failure(3).detail == static_cast<std::uint32_t>(limit::cpu_time));
  // As high as it is is no raise, though there is no room for a second one behind it.
  const std::string all =
      output_of(c, 4, limited("cat /proc/self/limits", {{limit::cpu_time, 50}, {limit::open_files, 100}}));
  CHECK(values_of(all, "Max cpu time") == "50 50");
  CHECK(values_of(all, "Max open files") == "100 100");
}

TEST_CASE("limits: one that nobody knows, or that is cut, is refused") {
  client c;
  c.start(1, limited("true", {{static_cast<limit>(0), 1}}));
  CHECK(c.expect_failure(1).step == start_step::request);
  c.start(2, limited("true", {{static_cast<limit>(7), 1}}));
  CHECK(c.expect_failure(2).step == start_step::request);
  std::string bytes = start_bytes(limited("true", {{limit::memory, 1u << 30}}));
  bytes.pop_back();
  c.send(wire::frame_type::start, 3, bytes);
  CHECK(c.expect_failure(3).step == start_step::request);
}
