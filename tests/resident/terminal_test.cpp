#include "resident/client.hpp"

#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <string>

using namespace berth;
using namespace berth::test;
using wire::frame_type;

namespace {

constexpr std::uint32_t typed = wire::start_input_pipe;

/// One command in a terminal, its bytes handed over or framed.
class session {
 public:
  session(client& c, std::uint32_t id, start_request request, bool handed) : client_(c), id_(id) {
    if (handed) request.flags |= wire::start_hand_over;
    c.start(id, request);
    frame started = c.expect(frame_type::started, id);
    pid = static_cast<pid_t>(started.number());
    CHECK(started.fds.size() == (handed ? 1 : 0));
    if (!handed) return;
    master_ = std::move(started.fds.at(0));
    fcntl(master_.get(), F_SETFL, O_RDWR | O_NONBLOCK);
  }

  void type(std::string_view keys) {
    if (!master_) return client_.send(frame_type::input, id_, keys);
    while (!keys.empty()) {
      const ssize_t n = write(master_.get(), keys.data(), keys.size());
      if (n > 0) keys.remove_prefix(static_cast<std::size_t>(n));
      REQUIRE((n > 0 || errno == EAGAIN));
    }
  }

  void resize(std::uint32_t columns, std::uint32_t rows) {
    std::string fields;
    wire::resize{columns, rows}.put(fields);
    if (!master_) return client_.send(frame_type::resize, id_, fields);
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    REQUIRE(ioctl(master_.get(), TIOCSWINSZ, &size) == 0);
  }

  /// What it shows until that has come, from the last call on; without a text until the end.
  std::string shows(std::string_view text = {}) {
    if (!master_) return client_.output(id_, wire::stream::out, text);
    std::string seen;
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (text.empty() || seen.find(text) == seen.npos) {
      char block[4096];
      const ssize_t n = read(master_.get(), block, sizeof block);
      if (n < 0 && errno == EIO) break;
      REQUIRE_MESSAGE((n >= 0 || errno == EAGAIN), "errno ", errno);
      if (n > 0) seen.append(block, static_cast<std::size_t>(n));
      pollfd ready{master_.get(), POLLIN, 0};
      if (n < 0) poll(&ready, 1, 100);
      REQUIRE_MESSAGE(std::chrono::steady_clock::now() < deadline, "so far: ", seen);
    }
    return seen;
  }

  void end_input() { client_.send(frame_type::input_end, id_); }
  /// The master goes back to be drained.
  void abandon() {
    if (!master_) return client_.send(frame_type::abandon, id_);
    client_.send(frame_type::abandon, id_, {}, 0, {master_.get()});
    master_.reset();
  }
  void drop_master() { master_.reset(); }

  pid_t pid = 0;

 private:
  client& client_;
  std::uint32_t id_;
  unique_fd master_;
};

/// Both ways, one after the other.
template <class F>
void both_ways(F body) {
  for (const bool handed : {false, true}) {
    CAPTURE(handed);
    client c;
    body(c, handed);
  }
}

std::string output_of(client& c, bool handed, const start_request& request) {
  session s(c, 1, request, handed);
  const std::string text = s.shows();
  CHECK(c.expect_exit(1).wait_status == 0);
  return text;
}

bool has_line(const std::string& text, const std::string& line) {
  return text.starts_with(line + "\r\n") || text.find("\n" + line + "\r\n") != text.npos;
}

std::size_t open_files(pid_t pid) {
  const auto all = std::filesystem::directory_iterator("/proc/" + std::to_string(pid) + "/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

}  // namespace

TEST_CASE("terminal: all three streams are it, in the size asked for, and it is the controlling one") {
  both_ways([](client& c, bool handed) {
    const std::string text =
        output_of(c, handed,
                  in_terminal("stty size; stty size <&1; stty size <&2; tty; stty -a | grep -o '.iutf8\\|^iutf8'; "
                              "ps -o tty=,tpgid=,pgid=,sid= $$; echo to >/dev/tty"));
    CHECK(text.starts_with("24 80\r\n24 80\r\n24 80\r\n/dev/pts/"));
    CHECK(text.find("-iutf8") == text.npos);
    CHECK(text.find("iutf8") != text.npos);
    CHECK(text.ends_with("to\r\n"));
  });
}

TEST_CASE("terminal: the command is its foreground group") {
  both_ways([](client& c, bool handed) {
    session s(c, 1, in_terminal("echo ready; exec sleep 60"), handed);
    s.shows("\n");
    CHECK(foreground_of(s.pid) == s.pid);
    CHECK(getsid(s.pid) == s.pid);
    CHECK(getpgid(s.pid) == s.pid);
  });
}

TEST_CASE("terminal: a resize is seen, and SIGWINCH tells of it") {
  both_ways([](client& c, bool handed) {
    session s(c, 1, in_terminal("trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done"), handed);
    s.shows("ready");
    s.resize(132, 50);
    CHECK(s.shows().ends_with("50 132\r\n"));
    CHECK(c.expect_exit(1).wait_status == 0);
  });
}

TEST_CASE("terminal: ^C ends the foreground job and leaves an interactive shell") {
  both_ways([](client& c, bool handed) {
    start_request request = in_terminal("exec /bin/bash --norc -i", typed);
    request.env = {"PS1=prompt> ", "HISTFILE="};
    session s(c, 1, request, handed);
    s.shows("prompt> ");
    s.type("sleep 61 & sleep 60; echo never\n");
    const auto is_foreground = [&](const char* line) {
      return becomes([&] { return command_line_of(foreground_of(s.pid)) == line; });
    };
    REQUIRE(is_foreground("sleep 60"));
    s.type("\x03");
    s.shows("prompt> ");
    s.type("jobs; fg\n");
    const std::string text = s.shows("Running");
    CHECK(text.find("no job control") == text.npos);
    REQUIRE(is_foreground("sleep 61"));
    s.type("\x1a");
    s.shows("Stopped");
    // The first is refused while the job is not reaped.
    s.type("kill -9 %1; exit 5\nexit 5\n");
    CHECK(WEXITSTATUS(c.expect_exit(1).wait_status) == 5);
  });
}

TEST_CASE("terminal: the end of the input is typed, with whatever key that is") {
  both_ways([](client& c, bool handed) {
    if (handed) return;  // the owner types it himself
    session s(c, 1, in_terminal("stty eof ^X; echo ready; cat; echo after", typed), handed);
    s.shows("ready");
    s.type("line\n");
    s.end_input();
    const std::string text = s.shows();
    CHECK(has_line(text, "line"));
    CHECK(text.ends_with("after\r\n"));
    CHECK(c.expect_exit(1).wait_status == 0);
  });
}

TEST_CASE("terminal: without input the first read is its end") {
  both_ways([](client& c, bool handed) { CHECK(output_of(c, handed, in_terminal("cat; echo after")) == "after\r\n"); });
}

TEST_CASE("terminal: a MiB of output arrives whole, before the end") {
  both_ways([](client& c, bool handed) {
    const std::string command = "stty raw; exec '" BERTH_TEST_PROGRAMS "/child' flood 1048576";
    const std::string text = output_of(c, handed, in_terminal(command));
    REQUIRE(text.size() == 1048576);
    bool exact = true;
    for (std::size_t i = 0; i < text.size(); ++i) exact = exact && static_cast<unsigned char>(text[i]) == i % 251;
    CHECK(exact);
  });
}

TEST_CASE("terminal: a MiB typed at a raw line comes back whole") {
  client c;
  session s(c, 1, in_terminal("stty raw -echo; echo ready; head -c 1048576 | md5sum", typed), false);
  s.shows("ready\n");
  std::string keys;
  for (std::size_t i = 0; i < 1048576; ++i) keys.push_back(static_cast<char>(i % 251));
  std::size_t credit = wire::initial_credit;
  for (std::size_t at = 0; at < keys.size(); at += 65536) {
    while (credit < 65536) credit += c.expect(frame_type::credit, 1).number();
    s.type(std::string_view(keys).substr(at, 65536));
    credit -= 65536;
  }
  CHECK(s.shows().starts_with("8f293a2f6c19b345152f7a49bb4c643c"));
  CHECK(c.expect_exit(1).wait_status == 0);
}

TEST_CASE("terminal: typing at a line that nobody reads does not hold up anything") {
  client c;
  session s(c, 1, in_terminal("stty raw -echo; echo ready; exec sleep 60", typed), false);
  s.shows("ready");
  for (int i = 0; i < 4; ++i) s.type(std::string(65536, 'x'));
  s.end_input();
  c.run(2, shell("echo hello"));
  CHECK(c.output(2) == "hello\n");
  c.send_number(frame_type::kill, 1, 0);
  c.expect(frame_type::tree_ended, 1);
}

TEST_CASE("terminal: a kill begins with HUP, and ends what ignores it") {
  both_ways([](client& c, bool handed) {
    session s(c, 1, in_terminal("trap 'echo hup; exit 3' HUP; trap '' TERM; echo ready; while :; do sleep 0.05; done"),
              handed);
    s.shows("ready");
    c.send_number(frame_type::kill, 1, 60000);
    CHECK(WEXITSTATUS(c.expect_exit(1).wait_status) == 3);
    c.expect(frame_type::tree_ended, 1);
    CHECK(s.shows().find("hup") != std::string::npos);

    session deaf(c, 2, in_terminal("trap '' HUP TERM; (setsid sleep 60 &); echo ready; sleep 60; sleep 60"), handed);
    deaf.shows("ready");
    c.send_number(frame_type::kill, 2, 100);
    c.expect(frame_type::tree_ended, 2);
    CHECK(WTERMSIG(c.expect_exit(2).wait_status) == SIGKILL);
    CHECK(tagged(c.nonce(), 2).empty());
  });
}

TEST_CASE("terminal: what was left keeps it, and neither blocks nor is hung up once it is given back") {
  both_ways([](client& c, bool handed) {
    session s(c, 1, in_terminal("trap '' HUP; (sleep 0.1; head -c 500000 /dev/zero; exec sleep 60) & echo out"),
              handed);
    s.shows("out");
    CHECK(c.expect_exit(1).wait_status == 0);
    s.abandon();
    CHECK(becomes([&] {
      const auto its = tagged(c.nonce(), 1);
      return std::any_of(its.begin(), its.end(), [](pid_t p) { return command_line_of(p) == "sleep 60"; });
    }));
    CHECK(burnt(c.pid()).count() < 5000);
    c.send_number(frame_type::kill, 1, 0);
    c.expect(frame_type::tree_ended, 1);
  });
}

TEST_CASE("terminal: a command that closes its streams and opens /dev/tty later is still heard") {
  both_ways([](client& c, bool handed) {
    const std::string text =
        output_of(c, handed, in_terminal("exec </dev/null >/dev/null 2>&1; sleep 0.3; echo later >/dev/tty"));
    CHECK(text == "later\r\n");
    CHECK(burnt(c.pid()).count() < 5000);
  });
}

TEST_CASE("terminal: an owner that closes its master hangs up") {
  client c;
  session s(c, 1, in_terminal("exec sleep 60"), true);
  s.drop_master();
  CHECK(WTERMSIG(c.expect_exit(1).wait_status) == SIGHUP);
}

TEST_CASE("terminal: TERM is set where there is none") {
  client c;
  start_request request = in_terminal("echo \"$TERM\"");
  request.env = {"TERM"};
  CHECK(output_of(c, false, request) == "xterm-256color\r\n");
  request.env = {"TERM=dumb"};
  session dumb(c, 2, request, false);
  CHECK(dumb.shows() == "dumb\r\n");
  start_request pipes = shell("echo \"$TERM\"");
  pipes.env = {"TERM"};
  c.run(3, pipes);
  CHECK(c.output(3) == "\n");
}

TEST_CASE("terminal: a size that no terminal has is refused, and a resize to one means nothing") {
  client c;
  start_request request = in_terminal("true");
  request.size = {65536, 24};
  c.start(1, request);
  CHECK(c.expect_failure(1).step == wire::start_step::request);
  session s(c, 2, in_terminal("echo ready; read x; stty size", typed), false);
  s.shows("ready");
  s.resize(65536, 1);
  s.resize(70, 20);
  s.resize(1, 65536);
  s.type("x\n");
  CHECK(s.shows().ends_with("20 70\r\n"));
}

TEST_CASE("terminal: a program that cannot run leaves none behind") {
  both_ways([](client& c, bool handed) {
    const std::size_t before = open_files(c.pid());
    start_request request = in_terminal("");
    request.argv = {"/nonexistent"};
    if (handed) request.flags |= wire::start_hand_over;
    c.start(1, request);
    CHECK(c.expect_failure(1).step == wire::start_step::exec);
    CHECK(becomes([&] { return open_files(c.pid()) == before; }));
  });
}

TEST_CASE("terminal: fifty at once, each its own, and no descriptor stays") {
  both_ways([](client& c, bool handed) {
    const std::size_t before = open_files(c.pid());
    {
      std::vector<std::unique_ptr<session>> all;
      for (std::uint32_t i = 1; i <= 50; ++i) {
        start_request request = in_terminal("tty; read line; stty size; echo $line", typed);
        request.size = {100 + i, i};
        all.push_back(std::make_unique<session>(c, i, request, handed));
      }
      for (std::uint32_t i = 0; i < 50; ++i) all[i]->type("word" + std::to_string(i + 1) + "\n");
      for (std::uint32_t i = 0; i < 50; ++i) {
        const std::string text = all[i]->shows();
        const std::string end =
            std::to_string(i + 1) + " " + std::to_string(101 + i) + "\r\nword" + std::to_string(i + 1);
        CHECK(text.ends_with(end + "\r\n"));
        c.expect_exit(i + 1);
      }
    }
    CHECK(becomes([&] { return open_files(c.pid()) == before; }));
  });
}
