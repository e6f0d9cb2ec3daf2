#include "resident/client.hpp"

#include "os/cgroup_place.hpp"
#include "support/cgroups.hpp"
#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::start_step;

namespace {

bool has_ground() {
  const std::string& ground = cgroup_ground();
  if (!ground.empty() && access((ground + "/cgroup.procs").c_str(), W_OK) == 0) return true;
  skip("no cgroup2 that may be written to");
  return false;
}

start_request in_cgroup(std::string text) {
  start_request request = shell(std::move(text));
  request.cgroup = cgroup_ground();
  return request;
}

std::string directory_of(const client& c, std::uint32_t id) {
  return cgroup_ground() + "/" + cgroup_prefix(static_cast<std::uint32_t>(c.pid()), c.nonce()) + std::to_string(id);
}

bool is_there(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

/// The process runs in a cgroup of that name.
bool lives_in(pid_t pid, const std::string& directory) {
  const std::string name = directory.substr(directory.rfind('/'));
  return proc_file(pid, "cgroup").find(name) != std::string::npos;
}

pid_t first_number(const std::string& text) { return static_cast<pid_t>(std::stoi(text)); }

}  // namespace

TEST_CASE("cgroup: a command that asks for one runs in it, and it goes with the command") {
  if (!has_ground()) return;
  client c;
  start_request request = in_cgroup("read word");
  request.flags = wire::start_input_pipe;
  const pid_t pid = c.run(1, request);
  CHECK(lives_in(pid, directory_of(c, 1)));
  const pid_t beside = c.run(2, shell("sleep 300"));
  CHECK_FALSE(lives_in(beside, directory_of(c, 2)));
  CHECK_FALSE(is_there(directory_of(c, 2)));
  c.send(wire::frame_type::input_end, 1);
  const wire::exited end = c.expect_exit(1);
  CHECK(end.cgroup_events == 0);
  CHECK_FALSE(is_there(directory_of(c, 1)));
}

TEST_CASE("cgroup: what a command left running keeps it, and it goes with the last of them") {
  if (!has_ground()) return;
  client c;
  c.run(1, in_cgroup("sleep 300 >/dev/null 2>&1 & echo $!"));
  const pid_t left = first_number(c.output(1));
  c.expect_exit(1);
  CHECK(lives_in(left, directory_of(c, 1)));
  kill(left, SIGKILL);
  CHECK(becomes([&] { return !is_there(directory_of(c, 1)); }));
}

TEST_CASE("cgroup: a kill finds what has changed its tag and its session") {
  if (!has_ground()) return;
  client c;
  c.run(1, in_cgroup("setsid prlimit --locks=5:5 sleep 300 >/dev/null 2>&1 & echo $!; exec sleep 300"));
  const pid_t stray = first_number(c.output(1, wire::stream::out, "\n"));
  CHECK(becomes([&] { return tag_of(stray) == 5 && command_line_of(stray).starts_with("sleep"); }));
  c.send_number(wire::frame_type::kill, 1, 0);
  c.expect(wire::frame_type::tree_ended, 1);
  CHECK_FALSE(is_alive(stray));
  CHECK(becomes([&] { return !is_there(directory_of(c, 1)); }));
}

TEST_CASE("cgroup: a kill after the end ends what was left, of another user too") {
  if (!has_ground()) return;
  if (geteuid() != 0) return skip("needs root, to become another user");
  const uid_t user = lone_user();
  client c;
  const std::string id = std::to_string(user);
  c.run(1, in_cgroup("setpriv --reuid " + id + " --clear-groups sleep 300 >/dev/null 2>&1 & echo $!"));
  const pid_t left = first_number(c.output(1));
  c.expect_exit(1);
  c.send_number(wire::frame_type::kill, 1, 0);
  const frame ended = c.expect(wire::frame_type::tree_ended, 1);
  wire::reader fields(ended.payload);
  CHECK(fields.u32() == 0);
  CHECK_FALSE(is_alive(left));
  CHECK(becomes([&] { return !is_there(directory_of(c, 1)); }));
}

TEST_CASE("cgroup: a start that fails leaves none") {
  if (!has_ground()) return;
  client c;
  start_request request = in_cgroup("");
  request.argv = {"/nonexistent/program"};
  c.start(1, request);
  CHECK(c.expect_failure(1).step == start_step::exec);
  CHECK(becomes([&] { return !is_there(directory_of(c, 1)); }));
}

TEST_CASE("cgroup: one that cannot be made is a failed start, and nothing ran") {
  client c;
  temp_dir plain;  // a directory can be made in it, but that is no cgroup
  start_request request = shell("echo ran");
  request.cgroup = plain.path().string();
  c.start(1, request);
  wire::start_failed failed = c.expect_failure(1);
  CHECK(failed.step == start_step::cgroup);
  CHECK(failed.error == ENOENT);
  request.cgroup_memory = 1 << 20;
  c.start(2, request);
  CHECK(c.expect_failure(2).step == start_step::cgroup);
  CHECK(std::filesystem::is_empty(plain.path()));
  request.cgroup = "/nonexistent/parent";
  c.start(3, request);
  failed = c.expect_failure(3);
  CHECK(failed.step == start_step::cgroup);
  CHECK(failed.error == ENOENT);
  request.cgroup = "/" + std::string(5000, 'x');
  c.start(4, request);
  CHECK(c.expect_failure(4).error == ENAMETOOLONG);
  request.cgroup = std::string("/sys\0/fs", 8);
  c.start(5, request);
  CHECK(c.expect_failure(5).step == start_step::request);
}

TEST_CASE("cgroup: the end of the owner ends and removes all, with what a command made below its own") {
  if (!has_ground()) return;
  client c;
  c.run(1, in_cgroup("exec sleep 300"));
  c.run(2, in_cgroup("sleep 300 >/dev/null 2>&1 & exit 0"));
  c.expect_exit(2);
  const std::string below = directory_of(c, 3) + "/below";
  c.run(3, in_cgroup("mkdir " + below + " && echo $$ >" + below + "/cgroup.procs && echo in && exec sleep 300"));
  CHECK(c.output(3, wire::stream::out, "\n") == "in\n");
  c.hang_up();
  CHECK(WEXITSTATUS(c.wait_end()) == 0);
  for (const std::uint32_t id : {1u, 2u, 3u}) CHECK_FALSE(is_there(directory_of(c, id)));
}

TEST_CASE("cgroup: its memory is that of all its processes, and what the kernel kills is told") {
  if (!has_ground() || !has_whole_limits("cgroup: memory")) return;
  prepare_cgroup_place();
  client c;
  const std::string holds = "dd if=/dev/zero bs=24M count=1 2>/dev/null | sleep 300 & ";
  start_request request = in_cgroup(holds + "wait");
  request.cgroup_memory = 64 << 20;
  c.run(1, request);
  request.argv.back() = holds + holds + holds + holds + "wait";
  c.run(2, request);
  const wire::exited end = c.expect_exit(2);
  CHECK(WTERMSIG(end.wait_status) == SIGKILL);
  CHECK(end.cgroup_events == wire::cgroup_oom_kill);
  CHECK(becomes([&] { return !is_there(directory_of(c, 2)); }));  // all of it was killed
  CHECK(c.stays_silent(wire::frame_type::exited, 1, milliseconds(100)));
}

TEST_CASE("cgroup: its processes are counted together, for root too, and a refused one is told") {
  if (!has_ground() || !has_whole_limits("cgroup: processes")) return;
  prepare_cgroup_place();
  client c;
  start_request request = in_cgroup("sleep 300 & sleep 300 & echo two; sleep 300 & echo three");
  request.cgroup_processes = 3;
  c.run(1, request);
  CHECK(c.output(1, wire::stream::out, "two\n") == "two\n");
  const wire::exited end = c.expect_exit(1);
  CHECK(WEXITSTATUS(end.wait_status) != 0);
  CHECK(end.cgroup_events == wire::cgroup_fork_refused);
  c.send_number(wire::frame_type::kill, 1, 0);
  c.expect(wire::frame_type::tree_ended, 1);
  request.cgroup_processes = 1ull << 40;
  request.argv.back() = "cat " + directory_of(c, 2) + "/pids.max";
  c.run(2, request);
  CHECK(c.output(2) == "max\n");
}
