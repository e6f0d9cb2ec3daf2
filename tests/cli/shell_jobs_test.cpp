// Job control, of the shell inside and of the one that we are a job of.

#include "cli/program.hpp"
#include "cli/shell_window.hpp"
#include "cli/terminal_session.hpp"
#include "support/proc_scan.hpp"

#include <csignal>
#include <filesystem>
#include <sstream>
#include <thread>

using namespace berth::test;
using namespace std::chrono_literals;

namespace {

char state_of(pid_t pid) {
  for (const auto& process : all_processes()) {
    if (process.pid == pid) return process.state;
  }
  return '-';
}

long resident_kib(pid_t pid) {
  std::istringstream lines(proc_file(pid, "status"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("VmRSS:")) return std::stol(line.substr(6));
  }
  return -1;
}

}  // namespace

TEST_CASE("shell: job control is that of the shell inside") {
  if (!tmux_window::is_there("shell: job control is that of the shell inside")) return;
  nothing_left guard;
  shell_window window("-e PS1='inner> ' -- bash --norc --noprofile -i");
  const auto& terminal = window.terminal();
  terminal.await("inner>");
  terminal.enter("sleep 500 &");
  terminal.await("[1] ");
  terminal.enter("jobs");
  terminal.await("Running");
  terminal.enter("fg");
  terminal.await("fg\nsleep 500");
  terminal.press("C-z");
  terminal.await("Stopped");
  terminal.enter("clear; bg; echo $((40 + 2)) is it");
  terminal.await("42 is it");
  terminal.enter("clear; echo here; fg");
  terminal.await("here\nsleep 500");
  terminal.press("C-c");
  terminal.enter("echo code of it $?");
  terminal.await("code of it 130");
  terminal.enter("sh -c 'trap \"echo caught it\" QUIT; echo ready; while :; do sleep 0.05; done'");
  terminal.await("\nready");
  terminal.press("C-\\");
  terminal.await("\ncaught it");
  terminal.press("C-c");
  terminal.enter("clear; exit 3");
  window.await_end(3);
}

TEST_CASE("shell: stopped from outside, it gives the terminal back, and takes it again when it goes on") {
  if (!tmux_window::is_there("shell: stopped from outside, it gives the terminal back")) return;
  nothing_left guard;
  temp_dir directory;
  const tmux_window terminal("cd '" + directory.path().string() + "'; ENV= PS1='outer> ' exec sh -i");
  terminal.await("outer>");
  terminal.enter("stty -g >before");
  terminal.enter("clear; \"$BERTH\" shell -e PS1='inner> ' -- sh -i");
  terminal.await("inner>");
  terminal.enter("clear; echo $PPID >resident");
  REQUIRE(eventually([&] { return std::filesystem::exists(directory / "resident"); }));
  REQUIRE(eventually([&] { return read_whole_file(directory / "resident").ends_with('\n'); }));
  pid_t berth = 0;
  const pid_t resident = std::stoi(read_whole_file(directory / "resident"));
  for (const auto& process : all_processes()) {
    if (process.pid == resident) berth = process.parent;
  }
  for (const int how : {SIGTSTP, SIGSTOP}) {
    CAPTURE(how);
    ::kill(berth, how);
    terminal.await("outer>");
    REQUIRE(eventually([&] { return state_of(berth) == 'T'; }));
    if (how == SIGTSTP) {
      terminal.enter("stty -g >after; echo $((40 + 2)) is it");
      terminal.await("42 is it");
      CHECK(read_whole_file(directory / "after") == read_whole_file(directory / "before"));
    } else {
      terminal.type("stty sane\x0A");  // nobody gave it back
    }
    terminal.resize(how == SIGTSTP ? 100 : 90, 30);
    terminal.enter("clear; fg");
    REQUIRE(eventually([&] { return state_of(berth) != 'T'; }));
    terminal.enter("sh -c 'while sleep 0.1; do clear; stty size; done'");  // tmux takes its time with a new size
    terminal.await(how == SIGTSTP ? "30 100" : "30 90");
    terminal.press("C-c");
    terminal.await("inner>");
  }
  terminal.enter("exit 5");
  terminal.await("outer>");
  terminal.enter("echo code of it $?");
  terminal.await("code of it 5");
}

TEST_CASE("shell: as a job in the background it stops, and begins when it is brought to the foreground") {
  nothing_left guard;
  temp_dir directory;
  terminal_session session(
      "cd '" + directory.path().string() +
      "'; set -m; \"$0\" shell 'echo it has $((40 + 2)); exit 6' & echo $! >berth; echo told; read "
      "line; fg; echo code $?");
  REQUIRE(session.shows("told"));
  const pid_t berth = std::stoi(read_whole_file(directory / "berth"));
  CHECK(eventually([&] { return state_of(berth) == 'T'; }));
  CHECK(session.screen().find("it has 42") == std::string::npos);
  session.type("\n");
  CHECK(session.shows("it has 42"));
  CHECK(session.shows("code 6"));
}

TEST_CASE("shell: stopped in the background, it hears a TERM, before its beginning and later") {
  nothing_left guard;
  temp_dir directory;
  const std::string begin = "cd '" + directory.path().string() + "'; exec bash ";
  const std::string end = "until jobs | grep Stopped; do sleep 0.1; done\nkill %1\necho told\nstty -a\nread line\n";
  write_whole_file(directory / "early", "set -m; \"$1\" shell true & echo $! >first\n" + end);
  terminal_session early(begin + "early \"$0\"");
  CHECK(early.shows("told"));
  CHECK(eventually([&] { return !is_alive(std::stoi(read_whole_file(directory / "first"))); }));
  write_whole_file(directory / "late",
                   "set -m; \"$1\" shell 'ps -o ppid= $PPID >second; kill -TSTP $(cat second); sleep 500'; bg\n" + end);
  terminal_session late(begin + "late \"$0\"");
  CHECK(late.shows("told"));
  CHECK(eventually([&] { return !is_alive(std::stoi(read_whole_file(directory / "second"))); }));
  CHECK(late.shows(" icanon"));
}

TEST_CASE("shell: where TTIN is ignored, the background is a mistake and not a loop") {
  nothing_left guard;
  terminal_session session("trap '' TTIN; set -m; \"$0\" shell true & wait; echo code $?; jobs");
  CHECK(session.shows("in the background"));
}

TEST_CASE("shell: a terminal that takes nothing holds the command up, and we do not grow") {
  nothing_left guard;
  terminal_session session("exec \"$0\" shell 'echo ready; exec yes'");
  REQUIRE(session.shows("ready"));
  std::this_thread::sleep_for(300ms);
  const long before = resident_kib(session.pid());
  REQUIRE(before > 0);
  std::this_thread::sleep_for(700ms);
  CHECK(resident_kib(session.pid()) <= before + 2048);
}
