// What is left of the terminal, and of what ran, on every way out.

#include "cli/program.hpp"
#include "cli/shell_window.hpp"
#include "cli/terminal_session.hpp"
#include "support/proc_scan.hpp"

#include <csignal>

using namespace berth::test;

namespace {

struct inner_processes {
  pid_t berth = 0;
  pid_t shell = 0;
  pid_t background = 0;
  pid_t daemon = 0;
};

/// A shell that has left things running.
inner_processes busy_shell(const shell_window& window) {
  inner_processes found;
  found.berth = window.find_berth();
  found.shell = window.number_in("shell");
  window.terminal().enter("sleep 500 & echo $! >background");
  found.background = window.number_in("background");
  window.terminal().enter("setsid sh -c 'trap \"\" HUP; echo $$ >daemon; exec sleep 500' &");
  found.daemon = window.number_in("daemon");
  return found;
}

bool are_gone(const inner_processes& those) {
  return eventually([&] { return !is_alive(those.shell) && !is_alive(those.background) && !is_alive(those.daemon); });
}

}  // namespace

TEST_CASE("shell: signals from outside end it with all that runs in it, and the terminal is as before") {
  if (!tmux_window::is_there("shell: signals from outside end it with all that runs in it")) return;
  for (const auto& [signo, code] : {std::pair{SIGTERM, 143}, {SIGHUP, 129}, {SIGINT, 130}, {SIGQUIT, 131}}) {
    CAPTURE(signo);
    nothing_left guard;
    const shell_window window;
    const auto inside = busy_shell(window);
    ::kill(inside.berth, signo);
    window.await_end(code);
    CHECK(are_gone(inside));
  }
}

TEST_CASE("shell: the terminal is as before when the shell is killed") {
  if (!tmux_window::is_there("shell: the terminal is as before when the shell is killed")) return;
  nothing_left guard;
  const shell_window window;
  const auto inside = busy_shell(window);
  ::kill(inside.shell, SIGKILL);
  window.await_end(137);
  window.terminal().await("ended by signal 9 (KILL)");
  CHECK(are_gone(inside));
}

TEST_CASE("shell: the terminal is as before when the resident is killed") {
  if (!tmux_window::is_there("shell: the terminal is as before when the resident is killed")) return;
  nothing_left guard;
  const shell_window window;
  const auto inside = busy_shell(window);
  ::kill(window.number_in("resident"), SIGKILL);
  window.await_end(125);
  window.terminal().await("berth: shell: contact was lost");
  CHECK(are_gone(inside));
}

TEST_CASE("shell: one that ignores everything is ended all the same, and the terminal is as before") {
  if (!tmux_window::is_there("shell: one that ignores everything is ended all the same")) return;
  nothing_left guard;
  const shell_window window;
  const pid_t berth = window.find_berth();
  window.terminal().enter("trap '' HUP TERM; stty -echo; echo $((40 + 2)) is it; while :; do sleep 0.05; done");
  window.terminal().await("42 is it");
  ::kill(berth, SIGTERM);
  window.await_end(143);
}

TEST_CASE("shell: killed the hard way, nothing of what ran inside stays") {
  if (!tmux_window::is_there("shell: killed the hard way, nothing of what ran inside stays")) return;
  nothing_left guard;
  const shell_window window;
  const auto inside = busy_shell(window);
  ::kill(inside.berth, SIGKILL);
  CHECK(are_gone(inside));
  window.terminal().await("code 137");
}

TEST_CASE("shell: when the terminal goes, so does all that runs inside") {
  nothing_left guard;
  temp_dir directory;
  const auto path = directory / "pid";
  terminal_session session("exec \"$0\" shell 'trap \"\" HUP; echo $$ >" + path + "; echo ready; exec sleep 500'");
  REQUIRE(session.shows("ready"));
  const pid_t inside = std::stoi(read_whole_file(path));
  session.hang_up();
  CHECK(eventually([&] { return !is_alive(inside); }));
  CHECK(eventually([&] { return !is_alive(session.pid()); }));
}

TEST_CASE("shell: a start that fails leaves the terminal as before") {
  if (!tmux_window::is_there("shell: a start that fails leaves the terminal as before")) return;
  nothing_left guard;
  const shell_window window("-- /nowhere/x y");
  window.await_end(127);
}
