#include "resident/client.hpp"

#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

unique_fd pidfd_of(pid_t pid) { return unique_fd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))); }

/// A tree of each kind runs; the owner goes in some way; nothing may be left.
template <class Go>
void check_end(client& c, Go go) {
  c.run(1, child({"tree", "stay", "quiet"}));
  c.output(1, wire::stream::out, "\n");
  c.run(2, child({"tree", "leave", "quiet"}));
  c.output(2, wire::stream::out, "\n");
  c.start(3, child({"cat"}, wire::start_hand_over * (c.from() == c.to()) | wire::start_input_pipe));
  c.expect(frame_type::started, 3);
  go();
  c.wait_end();
  CHECK(tagged(c.nonce()).empty());
}

}  // namespace

TEST_CASE("owner: bye ends everything, then the resident with 0") {
  client c;
  check_end(c, [&] { c.send(frame_type::bye, 0); });
  const int status = c.wait_end();
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("owner: its end of the stream ends everything") {
  for (const transport over : {transport::socket, transport::pipes}) {
    client c({.over = over});
    check_end(c, [&] { c.hang_up(); });
  }
}

TEST_CASE("owner: before the hello, too") {
  for (const transport over : {transport::socket, transport::pipes}) {
    client c({.over = over, .greet = false});
    c.hang_up();
    c.wait_end();
  }
}

TEST_CASE("owner: its death is seen by its pidfd though a copy of it holds the stream open") {
  const pid_t owner = fork();
  if (owner == 0) {
    pause();
    _exit(0);
  }
  client c({.greet = false});
  wire::hello h;
  h.flags = wire::hello_has_owner_pidfd;
  {
    const unique_fd pidfd = pidfd_of(owner);
    c.greet(h, {pidfd.get()});
  }
  check_end(c, [&] {
    CHECK_FALSE(c.has_ended(milliseconds(30)));
    kill(owner, SIGKILL);  // left a zombie: the stream stays open in this process
  });
  waitpid(owner, nullptr, 0);
}

TEST_CASE("owner: a hello that promises a pidfd and brings none is taken") {
  client c({.greet = false});
  wire::hello h;
  h.flags = wire::hello_has_owner_pidfd;
  c.greet(h);
  CHECK_FALSE(c.has_ended(milliseconds(30)));
}

TEST_CASE("owner: a hang-up is noticed while frames wait unread") {
  client c;
  const pid_t pid = c.run(1, child({"stay"}));
  c.send_raw(frame_bytes(frame_type::input, 5, 0, std::string(60000, 'x')).substr(0, 40000));
  c.hang_up();
  c.wait_end();
  CHECK_FALSE(is_alive(pid));
}

TEST_CASE("resident: no signal that a command can send ends it, but KILL") {
  client c;
  c.run(1, shell("for s in $(seq 1 64); do case $s in 9|19) ;; *) kill -$s $PPID; esac; done; echo sent"));
  CHECK(c.output(1) == "sent\n");
  c.expect_exit(1);
  CHECK_FALSE(c.has_ended(milliseconds(50)));
  CHECK(burnt(c.pid()).count() < 5000);
  c.run(2, shell("exit 0"));
}

TEST_CASE("resident: killed, its direct children go with it") {
  client c;
  const pid_t pid = c.run(1, child({"stay"}));
  kill(c.pid(), SIGKILL);
  CHECK(WTERMSIG(c.wait_end()) == SIGKILL);
  CHECK(becomes([&] { return !is_alive(pid); }));
}

namespace {

/// Goes on as the first process of a namespace, as in a container.
void become_first() {
  if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0 || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    _exit(125);
  const pid_t first = fork();
  if (first == 0) {
    if (mount("proc", "/proc", "proc", 0, nullptr) != 0) _exit(125);
    return;
  }
  syscall(SYS_close_range, 3, ~0u, 0);
  int status = 0;
  waitpid(first, &status, 0);
  _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 124);
}

}  // namespace

TEST_CASE("resident: as the first process of a container it ends everything on TERM") {
  if (geteuid() != 0) return skip("needs root, to make a namespace");
  client c({.before_exec = become_first});
  pid_t first = 0;
  for (const process_info& process : all_processes())
    if (process.parent == c.pid()) first = process.pid;
  REQUIRE(first != 0);
  c.run(1, child({"tree", "leave", "quiet"}));
  c.output(1, wire::stream::out, "\n");
  c.run(2, child({"ignore-term"}));
  c.send_number(frame_type::kill, 1, 0);
  c.expect(frame_type::tree_ended, 1);
  CHECK(tagged(c.nonce(), 1).empty());
  kill(first, SIGTERM);
  CHECK(WEXITSTATUS(c.wait_end()) == 0);
  CHECK(tagged(c.nonce()).empty());
}

namespace {

/// Runs a resident as a command of another, and speaks with it over the outer's streams.
class nested {
 public:
  nested() {
    const std::string path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(image());
    pid_ = outer.run(1, {{path, "stdio"}, wire::start_input_pipe});
    outer.send(frame_type::input, 1, frame_bytes(frame_type::hello, 0, 0, hello_bytes({})));
    wire::welcome w;
    REQUIRE(w.get(take(frame_type::welcome)));
    nonce = w.nonce;
  }

  void start(std::uint32_t id, const start_request& request) {
    outer.send(frame_type::input, 1, frame_bytes(frame_type::start, id, 0, start_bytes(request)));
  }

  std::string take(frame_type type) {
    while (true) {
      wire::header h;
      std::string_view payload;
      while (wire::parse(bytes_, h, payload) == wire::parse_result::frame) {
        const std::string text(payload);
        bytes_.erase(0, wire::header_size + h.size);
        if (h.type == type) return text;
      }
      bytes_ += outer.expect(frame_type::output, 1).payload;
    }
  }

  pid_t pid() const { return pid_; }

  client outer;
  std::uint32_t nonce = 0;

 private:
  /// The program of the outer one: a descriptor of this process, open for reading.
  int image() {
    const std::string exe = "/proc/" + std::to_string(outer.pid()) + "/exe";
    file_.reset(open(exe.c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(file_);
    return file_.get();
  }

  unique_fd file_;
  pid_t pid_ = 0;
  std::string bytes_;
};

}  // namespace

TEST_CASE("nested: what an inner resident starts carries the tags of both") {
  nested n;
  n.start(1, child({"stay"}));
  n.take(frame_type::started);
  CHECK(tagged(n.nonce, 1).size() == 1);
  CHECK(tagged(n.outer.nonce(), 1).size() == 2);
}

TEST_CASE("nested: the outer kill finds what the inner started, also after the inner was killed") {
  nested n;
  n.start(1, child({"tree", "stay", "quiet"}));
  n.take(frame_type::output);
  n.start(2, child({"tree", "leave", "quiet"}));
  n.take(frame_type::output);
  SUBCASE("the inner lives") {}
  SUBCASE("the inner was killed") {
    kill(n.pid(), SIGKILL);
    n.outer.expect_exit(1);
    CHECK_FALSE(tagged(n.outer.nonce(), 1).empty());
  }
  n.outer.send_number(frame_type::kill, 1, 0);
  n.outer.expect(frame_type::tree_ended, 1);
  CHECK(tagged(n.outer.nonce(), 1).empty());
  CHECK(tagged(n.nonce).empty());
}

TEST_CASE("nested: the inner ends its own, and is heard when the outer asks politely") {
  nested n;
  n.start(1, child({"tree", "leave", "quiet"}));
  n.take(frame_type::output);
  n.outer.send(frame_type::input_end, 1);
  CHECK(n.outer.expect_exit(1).wait_status == 0);
  CHECK(tagged(n.nonce).empty());
}
