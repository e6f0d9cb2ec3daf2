#include "resident/client.hpp"

#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

/// A set-uid root program that becomes root altogether, as sudo does, and runs the rest of its words.
std::string make_root_program(const temp_dir& folder) {
  const std::string path = folder / "become-root";
  std::filesystem::copy_file("/usr/bin/setpriv", path);
  REQUIRE(chown(path.c_str(), 0, 0) == 0);
  REQUIRE(chmod(path.c_str(), 04755) == 0);
  return path;
}

bool has_what_it_takes() {
  if (geteuid() == 0 && access("/usr/bin/setpriv", X_OK) == 0) return true;
  skip("needs root and setpriv, to make a process that cannot be killed");
  return false;
}

std::function<void()> as_user(uid_t user) {
  return [user] {
    if (setgid(user) != 0 || setuid(user) != 0) _exit(125);
  };
}

struct ended {
  std::uint32_t count = 0;
  pid_t pid = 0;
  std::string name;
};

ended expect_ended(client& c, std::uint32_t id) {
  const frame f = c.expect(frame_type::tree_ended, id);
  wire::reader r(f.payload);
  ended e;
  e.count = r.u32();
  if (e.count > 0) {
    e.pid = static_cast<pid_t>(r.u32());
    e.name = r.bytes();
  }
  CHECK(r.done());
  return e;
}

/// Ends what the resident could not.
void end(client& c) {
  for (const pid_t pid : tagged(c.nonce())) kill(pid, SIGKILL);
}

}  // namespace

TEST_CASE("another user's process: named, while the rest of the tree dies") {
  if (!has_what_it_takes()) return;
  temp_dir folder;
  const std::string root = make_root_program(folder);
  client c({.before_exec = as_user(lone_user())});
  c.run(1, shell(root + " --reuid 0 --clear-groups sleep 60 & sleep 61 & setsid sleep 62 & wait"));
  REQUIRE(becomes([&] {
    int sleeping = 0;
    for (const pid_t pid : tagged(c.nonce(), 1)) sleeping += command_line_of(pid).starts_with("sleep 6") ? 1 : 0;
    return sleeping == 3;
  }));
  c.send_number(frame_type::kill, 1, 0);
  const ended e = expect_ended(c, 1);
  c.expect_exit(1);
  CHECK(e.count == 1);
  CHECK(command_line_of(e.pid) == "sleep 60");
  CHECK(e.name == "sleep");
  CHECK(tagged(c.nonce(), 1) == std::vector<pid_t>{e.pid});
  CHECK(burnt(c.pid()).count() < 5000);
  end(c);
}

TEST_CASE("another user's process: the first of the command, and its end is told when it comes") {
  if (!has_what_it_takes()) return;
  temp_dir folder;
  const std::string root = make_root_program(folder);
  client c({.before_exec = as_user(lone_user())});
  const pid_t pid = c.run(1, {{root, "--reuid", "0", "--clear-groups", "sleep", "60"}});
  REQUIRE(becomes([&] { return command_line_of(pid) == "sleep 60"; }));
  for (int round = 0; round < 2; ++round) {
    c.send_number(frame_type::kill, 1, 0);
    const ended e = expect_ended(c, 1);
    CHECK(e.count == 1);
    CHECK(e.pid == pid);
    CHECK(is_alive(pid));
  }
  CHECK(burnt(c.pid()).count() < 5000);
  c.send_number(frame_type::kill, 1, 60000);
  CHECK(c.stays_silent(frame_type::tree_ended, 1, milliseconds(100)));
  kill(pid, SIGKILL);
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGKILL);
  CHECK(expect_ended(c, 1).count == 0);
}

TEST_CASE("another user's process: does not keep the resident, and ours below it die with it") {
  if (!has_what_it_takes()) return;
  temp_dir folder;
  const std::string root = make_root_program(folder);
  const uid_t user = lone_user();
  const std::string back = "setpriv --reuid " + std::to_string(user) + " --regid " + std::to_string(user) +
                           " --clear-groups sleep 61 & exec sleep 60";
  client c({.before_exec = as_user(user)});
  c.run(1, {{root, "--reuid", "0", "--clear-groups", "sh", "-c", back}});
  const auto sleeping = [&](const char* line) {
    for (const pid_t pid : tagged(c.nonce(), 1))
      if (command_line_of(pid) == line) return true;
    return false;
  };
  REQUIRE(becomes([&] { return sleeping("sleep 60") && sleeping("sleep 61"); }));
  SUBCASE("by bye") {
    c.send(frame_type::bye, 0);
    CHECK(WEXITSTATUS(c.wait_end()) == 0);
  }
  SUBCASE("by kill") {
    c.send_number(frame_type::kill, 1, 0);
    CHECK(expect_ended(c, 1).count == 1);
  }
  CHECK(sleeping("sleep 60"));
  CHECK_FALSE(sleeping("sleep 61"));
  end(c);
}

TEST_CASE("another user: the resident is not dumpable, so its memory is nobody's") {
  if (geteuid() != 0) return skip("needs root, to become another user");
  client c({.before_exec = as_user(lone_user())});
  struct stat about {};
  REQUIRE(stat(("/proc/" + std::to_string(c.pid()) + "/mem").c_str(), &about) == 0);
  CHECK(about.st_uid == 0);  // a dumpable one's belongs to its user
  const pid_t pid = c.run(1, shell("exec sleep 60"));
  REQUIRE(stat(("/proc/" + std::to_string(pid) + "/mem").c_str(), &about) == 0);
  CHECK(about.st_uid != 0);
}
