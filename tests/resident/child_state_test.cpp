#include "resident/client.hpp"

#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

/// A file that is busy in such a way that exec waits in the kernel until the lease on it is given up.
class hanging_program {
 public:
  explicit hanging_program(const temp_dir& folder) : path_(folder / "hangs") {
    write_whole_file(path_, "#!/bin/sh\necho ran\n");
    chmod(path_.c_str(), 0755);
    fd_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    signal(SIGIO, SIG_IGN);
    works_ = fcntl(fd_.get(), F_SETLEASE, F_WRLCK) == 0;
  }
  bool works() const { return works_; }
  const std::string& path() const { return path_; }
  void let_go() { fcntl(fd_.get(), F_SETLEASE, F_UNLCK); }

 private:
  std::string path_;
  unique_fd fd_;
  bool works_ = false;
};

std::string output_of(client& c, std::uint32_t id, const start_request& request) {
  c.run(id, request);
  return c.output(id);
}

}  // namespace

TEST_CASE("child: it has the descriptors 0, 1 and 2, and no other") {
  client c;
  CHECK(output_of(c, 1, child({"descriptors"})) == "0\n1\n2\n");
  CHECK(output_of(c, 2, child({"descriptors"}, wire::start_input_pipe | wire::start_merge_stderr)) == "0\n1\n2\n");
  client pipes({.over = transport::pipes});
  CHECK(output_of(pipes, 1, child({"descriptors"})) == "0\n1\n2\n");
}

TEST_CASE("child: it has no other descriptor while many others run and end") {
  client c;
  for (std::uint32_t id = 100; id < 200; ++id) c.start(id, child({"sleep", std::to_string(id % 7)}));
  for (std::uint32_t id = 1; id <= 30; ++id) c.start(id, child({"descriptors"}, id % 2 == 0 ? 2u : 0u));
  for (std::uint32_t id = 1; id <= 30; ++id) CHECK(c.output(id) == "0\n1\n2\n");
}

TEST_CASE("child: descriptors that the resident was started with stay out of it") {
  client c({.before_exec = [] {
    for (int fd = 20; fd < 40; ++fd) dup2(2, fd);
  }});
  CHECK(output_of(c, 1, child({"descriptors"})) == "0\n1\n2\n");
  CHECK(access(("/proc/" + std::to_string(c.pid()) + "/fd/25").c_str(), F_OK) != 0);
}

TEST_CASE("child: a resident that was started without 0, 1 and 2 gives them all the same") {
  client c({.before_exec = [] {
    for (int fd = 0; fd < 3; ++fd) close(fd);
  }});
  CHECK(output_of(c, 1, child({"descriptors"}, wire::start_input_pipe)) == "0\n1\n2\n");
}

TEST_CASE("exec hangs: it holds no pipe of another command, and the others go on") {
  temp_dir folder;
  hanging_program hangs(folder);
  if (!hangs.works()) return skip("this file system knows no leases");
  client c;
  c.start(2, child({"cat"}, wire::start_input_pipe | wire::start_hand_over));
  frame cat = c.expect(frame_type::started, 2);
  REQUIRE(cat.fds.size() == 3);
  c.start(1, {{hangs.path()}});
  c.run(3, child({"descriptors"}));
  CHECK(c.output(3) == "0\n1\n2\n");
  cat.fds[0].reset();  // the last write end, if the hanging child has none
  CHECK(read_all(cat.fds[1].get()).empty());
  CHECK(c.expect_exit(2).wait_status == 0);
  CHECK(burnt(c.pid()).count() < 5000);

  CHECK(c.stays_silent(frame_type::started, 1, milliseconds(20)));
  hangs.let_go();
  c.expect(frame_type::started, 1);
  CHECK(c.output(1) == "ran\n");
}

TEST_CASE("exec hangs: it can be killed, and ends with the resident") {
  temp_dir folder;
  hanging_program hangs(folder);
  if (!hangs.works()) return skip("this file system knows no leases");
  client c;
  c.start(1, {{hangs.path()}});
  REQUIRE(becomes([&] { return !tagged(c.nonce(), 1).empty(); }));
  c.send_number(frame_type::kill, 1, 0);
  c.expect(frame_type::tree_ended, 1);
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGKILL);
  c.start(2, {{hangs.path()}});
  REQUIRE(becomes([&] { return !tagged(c.nonce(), 2).empty(); }));
  c.send(frame_type::bye, 0);
  c.wait_end();
  CHECK(tagged(c.nonce()).empty());
}

TEST_CASE("child: no signal is ignored or blocked, whatever the resident was started with") {
  client c({.before_exec = [] {
    for (int signo = 1; signo < 65; ++signo) signal(signo, SIG_IGN);
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, nullptr);
  }});
  const std::string all = output_of(c, 1, {{"/bin/cat", "/proc/self/status"}});
  for (const char* field : {"SigPnd", "SigBlk", "SigIgn", "SigCgt"})
    CHECK_MESSAGE(all.find(std::string(field) + ":\t0000000000000000") != std::string::npos, all);
}

TEST_CASE("child: the limit of open files is the one the resident was started with") {
  client c({.before_exec = [] {
    const rlimit files{77, 1000};
    setrlimit(RLIMIT_NOFILE, &files);
  }});
  CHECK(output_of(c, 1, shell("ulimit -Sn; ulimit -Hn")) == "77\n1000\n");
  const std::string own = proc_file(c.pid(), "limits");
  CHECK_MESSAGE(own.find("Max open files            936                  1000") != std::string::npos, own);
}

TEST_CASE("child: a limit of open files that leaves hardly any is no hindrance") {
  client c({.before_exec = [] {
    const rlimit files{8, 1000};
    setrlimit(RLIMIT_NOFILE, &files);
  }});
  for (std::uint32_t id = 10; id < 40; ++id) CHECK(c.run(id, child({"stay"})) > 0);
  c.start(2, {{"/nonexistent"}});
  CHECK(c.expect_failure(2).step == wire::start_step::exec);
}

TEST_CASE("child: a session and a tag of its own") {
  client c;
  const pid_t pid = c.run(7, child({"stay"}));
  CHECK(getsid(pid) == pid);
  CHECK(getpgid(pid) == pid);
  CHECK(tag_of(pid) == (std::uint64_t{c.nonce()} << 32 | 7));
  CHECK(tagged(c.nonce(), 7) == std::vector<pid_t>{pid});
  CHECK(proc_file(pid, "limits").find(std::to_string(tag_of(pid)) + "  " + std::to_string(tag_of(pid))) !=
        std::string::npos);
}

TEST_CASE("child: dies with the resident, even if that one is killed") {
  client c;
  const pid_t pid = c.run(1, child({"ignore-term"}));
  kill(c.pid(), SIGKILL);
  c.wait_end();
  CHECK(becomes([&] { return !is_alive(pid); }));
}

TEST_CASE("child: its working directory") {
  temp_dir folder;
  client c;
  start_request request = shell("pwd");
  request.cwd = folder.path();
  CHECK(output_of(c, 1, request) == folder.path().string() + "\n");
}

TEST_CASE("exited: status, times and memory of the first process") {
  client c;
  c.run(1, shell("exit 9"));
  CHECK(c.expect_exit(1).wait_status == 9 << 8);
  c.run(2, shell("kill -9 $$"));
  CHECK(WTERMSIG(c.expect_exit(2).wait_status) == SIGKILL);
  c.run(3, shell("i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"));
  const wire::exited e = c.expect_exit(3);
  CHECK(e.user_us + e.system_us > 10000);
  CHECK(e.max_rss_bytes > 100 * 1024);
  CHECK(e.max_rss_bytes < 1024u * 1024 * 1024);
}
