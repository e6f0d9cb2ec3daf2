#include "cli/program.hpp"
#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <thread>

using namespace berth::test;
using namespace std::chrono_literals;

namespace {

/// Closes the second end and counts what comes out of the first.
std::size_t read_count(const int (&ends)[2]) {
  ::close(ends[1]);
  std::size_t count = 0;
  std::array<char, 65536> buffer;
  for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
    count += static_cast<std::size_t>(got);
  return count;
}

/// What a process used in user mode and in the kernel.
std::chrono::milliseconds cpu_time_of(pid_t pid) {
  std::istringstream fields(proc_file(pid, "stat"));
  std::string skipped;
  for (int field = 1; field < 14; ++field) fields >> skipped;
  long user = 0;
  long system = 0;
  fields >> user >> system;
  return std::chrono::milliseconds((user + system) * 1000 / ::sysconf(_SC_CLK_TCK));
}

}  // namespace

TEST_CASE("streams: output comes while the command runs") {
  nothing_left guard;
  program berth({"exec", "echo first; read line; echo second $line"});
  CHECK(berth.prints("first\n"));
  berth.write("now\n");
  const auto done = berth.end();
  CHECK(done.code == 0);
  CHECK(done.out == "first\nsecond now\n");
}

TEST_CASE("streams: the end of our standard input is the end of the command's") {
  CHECK(berth_ends({"exec", "cat; echo end"}, "some input").out == "some inputend\n");
  CHECK(berth_ends({"exec", "cat; echo end"}).out == "end\n");
}

TEST_CASE("streams: megabytes of input arrive whole") {
  const auto done = shell_ends(
      "head -c 3000000 /dev/urandom >in && \"$0\" exec cat <in | cmp - in && "
      "cat in | \"$0\" exec cat | cmp - in && echo same; rm in");
  CHECK(done.out == "same\n");
  CHECK(done.err == "");
}

TEST_CASE("streams: input may be a file, /dev/null or /dev/zero") {
  temp_dir directory;
  write_whole_file(directory / "in", "from a file\n");
  CHECK(shell_ends("\"$0\" exec cat <" + (directory / "in")).out == "from a file\n");
  CHECK(shell_ends("\"$0\" exec 'cat; echo end' </dev/null").out == "end\n");
  CHECK(shell_ends("\"$0\" exec 'head -c 100000 | wc -c' </dev/zero").out == "100000\n");
}

TEST_CASE("streams: a command that does not read its input is not held up by it") {
  nothing_left guard;
  program berth({"exec", "exec <&-; sleep 0.2; exit 4"});
  berth.write(std::string(60000, 'x'));
  std::this_thread::sleep_for(500ms);
  const auto done = berth.end();
  CHECK(done.code == 4);
  CHECK(done.err == "");
}

TEST_CASE("streams: input that stays open does not keep us when the command has ended") {
  nothing_left guard;
  program berth({"exec", "echo done"});
  CHECK(berth.prints("done\n"));
  CHECK_FALSE(berth.prints("nothing more"));  // until both streams have ended, with our input still open
  CHECK(berth.end().code == 0);
}

TEST_CASE("streams: standard input closed from the start reads as its end") {
  nothing_left guard;
  const auto done = shell_ends("exec \"$0\" exec 'cat; echo end' <&-");
  CHECK(done.code == 0);
  CHECK(done.out == "end\n");
  CHECK(done.err == "");
}

TEST_CASE("streams: output that goes nowhere is an error, not lost in silence") {
  nothing_left guard;
  const auto closed = shell_ends("exec \"$0\" exec 'echo lost' >&-");
  CHECK(closed.code == 125);
  CHECK(closed.err == "berth: exec: output: Bad file descriptor\n");
  const auto full = shell_ends("exec \"$0\" exec 'echo lost' >/dev/full");
  CHECK(full.code == 125);
  CHECK(full.err == "berth: exec: output: No space left on device\n");
  const auto silent = shell_ends("exec \"$0\" exec 'exit 3' >&-");
  CHECK(silent.code == 3);
}

TEST_CASE("streams: closed standard error drops what goes there") {
  const auto done = shell_ends("exec \"$0\" exec 'echo err >&2; echo out; exit 3' 2>&-");
  CHECK(done.code == 3);
  CHECK(done.out == "out\n");
}

TEST_CASE("streams: all three closed from the start") {
  CHECK(shell_ends("exec \"$0\" exec 'cat; exit 3' <&- >&- 2>&-").code == 3);
}

TEST_CASE("streams: when nobody reads our output the command ends, and we are 141 without a word") {
  nothing_left guard;
  program berth({"exec", "yes; sleep 100"});
  REQUIRE(berth.prints("y\n"));
  berth.close_output();
  const auto done = berth.end();
  CHECK(done.code == 141);
  CHECK(done.err == "");
}

TEST_CASE("streams: in a pipeline only the reader's end counts") {
  nothing_left guard;
  const auto done = shell_ends("\"$0\" exec 'yes' | head -n 2");
  CHECK(done.code == 0);
  CHECK(done.out == "y\ny\n");
  CHECK(done.err == "");
}

TEST_CASE("streams: a reader that is slow stops the command, and loses nothing") {
  temp_dir directory;
  const auto count = directory / "count";
  program berth({"exec", "head -c 20000000 /dev/zero; echo written >" + count});
  std::this_thread::sleep_for(500ms);
  CHECK_FALSE(std::filesystem::exists(count));
  CHECK(berth.end().out.size() == 20000000);
}

TEST_CASE("streams: what others made non-blocking works without a busy loop, and flags stay as they were") {
  for (const int flag : {0, O_NONBLOCK}) {
    CAPTURE(flag);
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    ::fcntl(ends[1], F_SETFL, flag);
    program berth({"exec", "head -c 1000000 /dev/zero"}, ends[1]);
    std::this_thread::sleep_for(500ms);
    CHECK(cpu_time_of(berth.pid()) < 300ms);
    CHECK(read_count(ends) == 1000000);
    CHECK(berth.end().code == 0);
    CHECK((::fcntl(ends[0], F_GETFL) & O_NONBLOCK) == 0);
  }
}

TEST_CASE("streams: sockets on both sides") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  program berth({"exec", "head -c 1000000 /dev/zero"}, ends[1]);
  CHECK(read_count(ends) == 1000000);
  CHECK(berth.end().code == 0);
  ::close(ends[0]);
}
