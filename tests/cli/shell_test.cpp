#include "cli/program.hpp"
#include "cli/shell_options.hpp"
#include "cli/shell_window.hpp"
#include "cli/terminal_session.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

using namespace berth::test;

namespace {

std::string mistake_in(const words& arguments) {
  try {
    berth::cli::parse_shell_options(arguments);
  } catch (const berth::cli::usage_error& mistake) {
    return mistake.what();
  }
  return "none";
}

std::string long_text() {
  std::string text;
  for (int i = 0; text.size() < 65536; ++i)
    text += std::to_string(i) + " the quick brown fox jumps over the lazy dog\n";
  return text;
}

}  // namespace

TEST_CASE("shell arguments: options end where the command begins; without one it is the login shell") {
  const auto options = berth::cli::parse_shell_options({"-e", "A=1", "--context", "process", "vi", "-e", "file"});
  CHECK(options.command_words == words{"vi", "-e", "file"});
  REQUIRE(options.env.size() == 1);
  const auto what = berth::cli::make_shell(berth::cli::parse_shell_options({}), berth::terminal_size(90, 30));
  CHECK(what.is_shell());
  CHECK(what.terminal() == berth::terminal_size(90, 30));
}

TEST_CASE("shell arguments: mistakes are told") {
  CHECK(mistake_in({"--context", "moon"}) == "--context moon: there are 'process', which is this host, and 'docker'");
  CHECK(mistake_in({"--timeout", "1s"}) == "unknown option '--timeout'; 'berth help shell' lists those there are");
  CHECK(mistake_in({"--cwd", "/nowhere"}) == "--cwd /nowhere: No such file or directory");
}

TEST_CASE("shell: without a terminal it is refused, and the message names the cure") {
  nothing_left guard;
  const auto done = berth_ends({"shell"});
  CHECK(done.code == 125);
  CHECK(done.out == "");
  CHECK(done.err == "berth: shell: standard input is no terminal; without one, use 'berth exec'\n");
  terminal_session session("\"$0\" shell true | cat; echo ended");
  CHECK(session.shows("ended"));
  CHECK(session.screen().find("standard output is no terminal; without one, use 'berth exec'") != std::string::npos);
}

TEST_CASE("shell: a prompt, a command, and the exit code of the shell") {
  if (!tmux_window::is_there("shell: a prompt, a command, and the exit code of the shell")) return;
  nothing_left guard;
  shell_window window;
  window.terminal().await("inner>");
  window.terminal().enter("echo $((40 + 2)) is it");
  window.terminal().await("42 is it");
  window.terminal().enter("exit 7");
  window.await_end(7);
}

TEST_CASE("shell: control D ends it") {
  if (!tmux_window::is_there("shell: control D ends it")) return;
  nothing_left guard;
  shell_window window;
  window.terminal().await("inner>");
  window.terminal().press("C-d");
  window.await_end(0);
}

TEST_CASE("shell: without a command it is the login shell, which reads its profile") {
  const passwd* const user = ::getpwuid(::geteuid());
  const std::string shell = user != nullptr ? user->pw_shell : "/bin/sh";
  if (!shell.ends_with("/sh") && !shell.ends_with("/bash") && !shell.ends_with("/dash")) {
    std::printf("SKIPPED: shell: without a command it is the login shell: %s has other profiles\n", shell.c_str());
    return;
  }
  nothing_left guard;
  temp_dir home;
  write_whole_file(home / ".profile", "PS1='login> '\ncase $- in *i*) echo interactive;; esac\n");
  terminal_session session("HOME='" + home.path().string() + "' \"$0\" shell; echo code $?");
  REQUIRE(session.shows("interactive"));
  REQUIRE(session.shows("login> "));
  session.type("exit 4\r");
  CHECK(session.shows("code 4"));
}

TEST_CASE("shell: exit codes of commands, of those not found and of those that a signal ended") {
  nothing_left guard;
  terminal_session session(
      "\"$0\" shell -- false; echo a $?; \"$0\" shell -- /nowhere/x y; echo b $?; \"$0\" shell 'kill -KILL $$'; echo c "
      "$?");
  CHECK(session.shows("a 1\r\n"));
  CHECK(session.shows("b 127\r\n"));
  CHECK(session.shows("ended by signal 9 (KILL)\r\n"));
  CHECK(session.shows("c 137\r\n"));
  CHECK(session.screen().find("berth: shell:") != std::string::npos);  // what was not found
}

TEST_CASE("shell: directory and environment are those asked for, and TERM passes") {
  nothing_left guard;
  terminal_session session(
      "TERM=vt100 \"$0\" shell --cwd / -e A=b --unset-env HOME 'echo \"[$PWD $A ${HOME-none} $TERM]\"'; "
      "unset TERM; \"$0\" shell 'echo \"[$TERM]\"'; \"$0\" shell -e TERM=vt220 'echo \"[$TERM]\"'");
  CHECK(session.shows("[/ b none vt100]"));
  CHECK(session.shows("[dumb]"));
  CHECK(session.shows("[vt220]"));
  terminal_session clean("TERM=vt100 A=b B=c \"$0\" shell --inherit-env A 'echo \"[$A ${B-none} $TERM]\"'");
  CHECK(clean.shows("[b none vt100]"));
}

TEST_CASE("shell: a terminal that does not know its size is one of 80 columns and 24 rows") {
  nothing_left guard;
  terminal_session session("stty size; \"$0\" shell stty size");
  CHECK(session.shows("0 0\r\n"));
  CHECK(session.shows("24 80\r\n"));
}

TEST_CASE("shell: the size is known inside from the start, and changes with ours") {
  if (!tmux_window::is_there("shell: the size is known inside from the start, and changes with ours")) return;
  nothing_left guard;
  shell_window window("'stty size; trap \"stty size\" WINCH; while :; do sleep 0.05; done'", 91, 23);
  window.terminal().await("23 91");
  window.terminal().resize(100, 40);
  window.terminal().await("40 100");
  window.terminal().press("C-c");
  window.terminal().await("code 130");
}

TEST_CASE("shell: what is not ASCII passes both ways") {
  if (!tmux_window::is_there("shell: what is not ASCII passes both ways")) return;
  nothing_left guard;
  shell_window window("-e PS1='grüße> ' --unset-env ENV -- sh -i");
  window.terminal().await("grüße>");
  window.terminal().enter("printf '%s\\n' '日本' | tee file | sed s/^/got:/");
  window.terminal().await("got:日本");
  CHECK(read_whole_file(window.file("file")) == "日本\n");
  window.terminal().press("C-d");
  window.await_end(0);
}

TEST_CASE("shell: a long paste arrives byte for byte") {
  if (!tmux_window::is_there("shell: a long paste arrives byte for byte")) return;
  nothing_left guard;
  shell_window window;
  window.terminal().await("inner>");
  // Not by what is shown: of an echo that is behind a terminal loses some, without `berth shell` too.
  window.terminal().enter("cat >file; touch ended");
  const auto text = long_text();
  window.terminal().paste(text);
  window.terminal().press("C-d");
  REQUIRE(eventually([&] { return std::filesystem::exists(window.file("ended")); }));
  CHECK(read_whole_file(window.file("file")) == text);
  window.terminal().press("C-d");
  window.await_end(0);
}

TEST_CASE("shell: a flood of output comes to its end, the last line too") {
  if (!tmux_window::is_there("shell: a flood of output comes to its end, the last line too")) return;
  nothing_left guard;
  shell_window window("seq 1 200000");
  window.terminal().await("200000\ncode 0");
  window.await_end(0);
}

TEST_CASE("shell: control C is heard in a flood") {
  if (!tmux_window::is_there("shell: control C is heard in a flood")) return;
  nothing_left guard;
  shell_window window;
  window.terminal().await("inner>");
  window.terminal().enter("yes");
  window.terminal().await("y\ny\ny");
  window.terminal().press("C-c");
  window.terminal().await("inner>");
  window.terminal().enter("exit 0");
  window.await_end(0);
}
