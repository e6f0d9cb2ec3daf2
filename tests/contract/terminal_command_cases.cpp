/// Commands with a terminal, through exec and exec_stream.
#include "contract/contract.hpp"

#include "support/proc_scan.hpp"

#include <csignal>

namespace berth::contract {
namespace {

/// A terminal ends lines with a carriage return too.
bool has_line(const std::string& text, const std::string& line) {
  return text.starts_with(line + "\r\n") || text.find("\n" + line + "\r\n") != text.npos;
}

command with_terminal(std::string text) { return command(std::move(text)).terminal(80, 24); }

task<void> size_and_streams(context& place, handle where) {
  const exec_result result =
      co_await place.exec(where, with_terminal("stty size; stty size <&1; stty size <&2; tty; echo err >&2"));
  CHECK(result.status == exit_status::exited(0));
  CHECK(result.std_out.starts_with("24 80\r\n24 80\r\n24 80\r\n/dev/"));
  CHECK(result.std_out.ends_with("err\r\n"));
  CHECK(result.std_err.empty());
  CHECK_FALSE(result.streams_open);
}

task<void> controlling(context& place, handle where) {
  const exec_result result = co_await place.exec(where, with_terminal("echo through >/dev/tty; exit 3"));
  CHECK(result.std_out == "through\r\n");
  CHECK(result.status == exit_status::exited(3));
}

task<void> resizing(context& place, handle where) {
  const std::string text = "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done";
  process running = co_await place.exec_stream(where, with_terminal(text));
  co_await read_until(running, "ready");
  running.resize(132, 50);
  const auto all = co_await read_all(running);
  CHECK(has_line(all->out, "50 132"));
  CHECK(running.status()->ok());
  running.resize(10, 10);  // it has ended
}

task<bool> becomes_foreground(pid_t shell, std::string line) {
  const auto is_so = [shell, line] { return command_line_of(foreground_of(shell)) == line; };
  auto becomes = becomes_true(is_so, 10s);
  co_return co_await std::move(becomes);
}

task<void> job_control(context& place, handle where) {
  const exec_result bash = co_await place.exec(where, "test -x /bin/bash");
  command shell = argv("sh", "-i");
  if (bash.ok()) shell = argv("/bin/bash", "--norc", "-i");
  shell.terminal(80, 24).input_stream().env("PS1", "prompt> ");
  process running = co_await place.exec_stream(where, shell);
  co_await read_until(running, "prompt> ");
  co_await running.write("echo begun; sleep 60; echo nev''er\n");
  const pid_t pid = co_await pid_here(place, where, running.pid());
  bool is_foreground = co_await becomes_foreground(pid, "sleep 60");
  CHECK(is_foreground);
  co_await running.write("\x03");
  std::string text = co_await read_until(running, "prompt> ");
  CHECK(text.find("never") == text.npos);
  co_await running.write("sleep 61\n");
  is_foreground = co_await becomes_foreground(pid, "sleep 61");
  CHECK(is_foreground);
  co_await running.write("\x1a");
  text = co_await read_until(running, "Stopped");
  CHECK(text.find("no job control") == text.npos);
  co_await running.write("kill -9 %1; exit 5\nexit 5\n");
  co_await read_all(running);
  CHECK(running.status() == exit_status::exited(5));
}

task<void> input_is_typed(context& place, handle where) {
  const exec_result result = co_await place.exec(where, with_terminal("cat; echo after").input("one\ntwo\n"));
  CHECK(result.ok());
  CHECK(has_line(result.std_out, "two"));
  CHECK(has_line(result.std_out, "after"));
}

task<void> end_is_a_key(context& place, handle where) {
  process running =
      co_await place.exec_stream(where, with_terminal("stty eof ^X; echo ready; cat; echo after").input_stream());
  co_await read_until(running, "ready");
  co_await running.write("line\n");
  co_await running.close_stdin();
  const auto all = co_await read_all(running);
  CHECK(all->out.ends_with("after\r\n"));
  CHECK(running.status()->ok());
}

task<void> no_input(context& place, handle where) {
  const exec_result result = co_await place.exec(where, with_terminal("cat; echo after"));
  CHECK(result.std_out == "after\r\n");
  CHECK(result.ok());
}

task<void> large_output(context& place, handle where) {
  command flood = with_terminal("stty raw -echo; exec '" + child_path() + "' flood 1048576");
  flood.output_limit(std::size_t{2} << 20);
  const exec_result result = co_await place.exec(where, flood);
  CHECK(result.ok());
  CHECK(result.std_out.size() == 1048576);
  CHECK(is_pattern(result.std_out));
}

std::string pattern(std::size_t size) {
  std::string bytes;
  for (std::size_t i = 0; i < size; ++i) bytes.push_back(static_cast<char>(i % 251));
  return bytes;
}

task<void> large_input(context& place, handle where) {
  const std::string text = "stty raw -echo; echo ready; head -c 1048576 | md5sum";
  process running = co_await place.exec_stream(where, with_terminal(text).input_stream());
  co_await read_until(running, "ready\n");
  co_await running.write(pattern(1048576));
  const auto all = co_await read_all(running);
  CHECK(all->out.starts_with("8f293a2f6c19b345152f7a49bb4c643c"));
  CHECK(running.status()->ok());
}

task<int> write_pattern(process& target, std::size_t size) {
  co_await target.write(pattern(size));
  co_return 1;
}

task<void> unread_keys(context& place, handle where) {
  const std::string text = "stty raw -echo; echo ready; exec sleep 60";
  process stuck = co_await place.exec_stream(where, with_terminal(text).input_stream());
  co_await read_until(stuck, "ready");
  running<int> writer(place.get_executor(), write_pattern(stuck, 1 << 20));
  const exec_result other = co_await place.exec(where, "echo hello");
  CHECK(other.std_out == "hello\n");
  co_await pause_for(100ms);
  CHECK_FALSE(writer.ended());
  const exit_status status = co_await stuck.kill();
  CHECK(status.reason() == end_reason::cancelled);
  const std::error_code code = co_await failure_of(writer.result());
  CHECK(code == std::errc::broken_pipe);
}

task<void> killed_by_hup(context& place, handle where) {
  const std::string text = "trap 'echo hup; exit 3' HUP; trap '' TERM; echo ready; while :; do sleep 0.05; done";
  process running = co_await place.exec_stream(where, with_terminal(text).grace(30s));
  co_await read_until(running, "ready");
  const exit_status status = co_await running.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(status.message().find("exited with 3") != std::string::npos);
  const auto all = co_await read_all(running);
  CHECK(has_line(all->out, "hup"));
}

task<void> deaf_to_hup(context& place, handle where) {
  const std::string text = "trap '' HUP TERM; exec " + child_path() + " tree stay";
  process running = co_await place.exec_stream(where, with_terminal(text).grace(100ms));
  const std::vector<pid_t> pids = co_await read_pids(place, where, running);
  CHECK(pids.size() == 7);
  const exit_status status = co_await running.kill();
  CHECK(status == exit_status(end_reason::cancelled, 128 + SIGKILL, SIGKILL));
  CHECK(alive_among(pids).empty());
}

task<void> deadline(context& place, handle where) {
  const exec_result result = co_await place.exec(where, with_terminal("echo begun; sleep 60").timeout(500ms));
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(result.status.signal() == SIGHUP);
  CHECK(has_line(result.std_out, "begun"));
}

task<void> left_on_it(context& place, handle where) {
  const std::string text =
      "trap '' HUP; (sleep 1; head -c 500000 /dev/zero; echo x >done; exec sleep 60) & echo pids $!";
  const exec_result result = co_await place.exec(where, with_terminal(text));
  CHECK(result.ok());
  CHECK(result.streams_open);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  const bool done = co_await file_appears(where.cwd() + "/done");
  CHECK(done);
  CHECK_FALSE(alive_among(pids).empty());
}

task<void> late_output(context& place, handle where) {
  const exec_result result =
      co_await place.exec(where, with_terminal("trap '' HUP; (sleep 0.1; echo late) & echo first"));
  CHECK(result.std_out == "first\r\nlate\r\n");
  CHECK_FALSE(result.streams_open);
}

task<void> reopened(context& place, handle where) {
  const std::string text = "exec </dev/null >/dev/null 2>&1; sleep 0.3; echo later >/dev/tty";
  const exec_result result = co_await place.exec(where, with_terminal(text));
  CHECK(result.std_out == "later\r\n");
}

task<void> dropped(context& place, handle where) {
  std::vector<pid_t> pids;
  {
    process running = co_await place.exec_stream(where, child("tree", "stay").terminal(80, 24));
    pids = co_await read_pids(place, where, running);
  }
  const bool gone = co_await all_gone(pids);
  CHECK(gone);
}

task<void> term_variable(context& place, handle where) {
  const exec_result none = co_await place.exec(where, with_terminal("echo $TERM").unset_env("TERM"));
  CHECK(none.std_out == "xterm-256color\r\n");
  const exec_result own = co_await place.exec(where, with_terminal("echo $TERM").env("TERM", "vt100"));
  CHECK(own.std_out == "vt100\r\n");
}

task<void> resize_refused(context& place, handle where) {
  process pipes = co_await place.exec_stream(where, "exit 0");
  CHECK_THROWS_AS(pipes.resize(80, 24), error);
  co_await pipes.wait();
  process running = co_await place.exec_stream(where, with_terminal("exit 0"));
  CHECK_THROWS_AS(running.resize(0, 24), error);
  CHECK_THROWS_AS(running.resize(80, 65536), error);
  co_await running.wait();
  const std::error_code code = co_await failure_of(place.exec(where, command("exit 0").terminal(0, 24)));
  CHECK(code == errc::invalid_argument);
}

task<void> missing_program(context& place, handle where) {
  const exec_result result = co_await place.exec(where, argv("/nonexistent").terminal(80, 24));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 127);
}

task<void> many(context& place, handle where) {
  std::vector<running<exec_result>> all;
  for (int i = 1; i <= 50; ++i) {
    const std::string number = std::to_string(i);
    const command one =
        command("read line; stty size; echo $line").terminal(100 + i, 10 + i).input("word" + number + "\n");
    all.push_back(start_exec(place, where, one));
  }
  for (int i = 1; i <= 50; ++i) {
    const exec_result result = co_await all[static_cast<std::size_t>(i - 1)].result();
    const std::string number = std::to_string(i);
    CAPTURE(result.std_out);
    CHECK(result.std_out.ends_with(std::to_string(10 + i) + " " + std::to_string(100 + i) + "\r\nword" + number +
                                   "\r\n"));
  }
}

constexpr contract_case terminal_command_table[] = {
    {"terminal: all three streams are it, in the size asked for", size_and_streams, needs::first_size},
    {"terminal: it is the controlling one, and the exit code comes through", controlling},
    {"terminal: a resize is seen, and SIGWINCH tells of it", resizing},
    {"terminal: a shell in it has job control, and ^C ends only the job", job_control, needs::pids},
    {"terminal: given input is typed, then its end", input_is_typed},
    {"terminal: close_stdin() types the end, with whatever key that is", end_is_a_key, needs::any_end_key},
    {"terminal: without input the first read is at its end", no_input},
    {"terminal: a MiB of output arrives exactly, all of it before the end", large_output, 30s},
    {"terminal: a MiB of input arrives exactly at a raw line", large_input, 30s},
    {"terminal: input that nobody reads holds up its writer only, and fails when the command ends", unread_keys},
    {"terminal: a kill begins with HUP", killed_by_hup, needs::kills_tree},
    {"terminal: a tree that ignores HUP is killed", deaf_to_hup, needs::kills_tree},
    {"terminal: a deadline ends it by HUP, and keeps what came", deadline, needs::kills_tree},
    {"terminal: what was left on it delays the result by 2.5 s at most, and may print on", left_on_it,
     needs::leftover_output},
    {"terminal: what comes shortly after the exit is still collected", late_output, needs::leftover_output},
    {"terminal: a command that closes it and opens /dev/tty later is still heard", reopened},
    {"terminal: a process that is dropped takes its tree along", dropped, needs::kills_tree},
    {"terminal: TERM is set where there is none", term_variable},
    {"terminal: a size that cannot be, and a resize without one, are refused", resize_refused},
    {"terminal: a program that is missing is a failed start", missing_program},
    {"terminal: fifty at once, each its own", many, 30s},
};

}  // namespace

std::span<const contract_case> terminal_command_cases() { return terminal_command_table; }

}  // namespace berth::contract
