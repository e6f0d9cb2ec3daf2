/// The context on this host with isolation: one sandbox for each handle, with the resident as its process 1.
#include "host/host_world.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <berth/background.hpp>
#include <berth/terminal.hpp>

#include <signal.h>

#include <cstdlib>
#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

ASYNC_TEST("isolation: commands write in the working directory and nowhere else, and share a private /tmp") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  const exec_result inside = co_await place.exec(where, command("echo hi >a; cat a; pwd; echo kept >/tmp/x"));
  CHECK(inside.std_err == "");
  CHECK(inside.std_out == "hi\n" + at.path().string() + "\n");
  CHECK(inside.ok());
  CHECK(read_whole_file(at / "a") == "hi\n");
  const exec_result outside = co_await place.exec(where, command("echo x >/etc/berth-test"));
  CHECK(outside.status.code() == 2);
  CHECK(outside.std_err.find("Read-only file system") != std::string::npos);
  const exec_result again = co_await place.exec(where, command("cat /tmp/x /var/tmp/x"));
  CHECK(again.std_out == "kept\nkept\n");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: a server of one command answers its client in the next, and this host's loopback is another") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  const std::string server =
      "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 8765)); print(1, flush=True); "
      "s.accept()[0].send(b\"served\\n\")'";
  background serving = co_await place.exec_background(where, command(server));
  const auto ready = co_await serving.wait_for_output("1", 8s);
  CHECK(ready.has_value());
  const exec_result client = co_await place.exec(
      where, command("python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\", 8765)).recv(9))'"));
  CHECK(client.std_out == "b'served\\n'\n");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: the resident can be neither killed, stopped, traced nor read from inside") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  const std::string attacks =
      "for s in TERM KILL STOP HUP INT CHLD; do kill -$s 1; done; readlink /proc/1/fd/*; echo x >/proc/1/fd/3; cat "
      "/proc/1/environ; "
      "cat /proc/1/mem; echo x >/proc/1/mem; cat /proc/1/comm";
  const exec_result attacked = co_await place.exec(where, command(attacks));
  CHECK(attacked.std_out == "berth-resident\n");
  const exec_result after = co_await place.exec(where, command("echo alive"));
  CHECK(after.std_out == "alive\n");
  CHECK(after.ok());
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: exit codes, signals, standard input and deadlines are what they are outside") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  exec_result got = co_await place.exec(where, command("exit 3"));
  CHECK(got.status == exit_status::exited(3));
  got = co_await place.exec(where, command("kill -9 $$"));
  CHECK(got.status == exit_status::signaled(9));
  got = co_await place.exec(where, command("cat").input("in\n"));
  CHECK(got.std_out == "in\n");
  got =
      co_await place.exec(where, command("trap 'echo trapped; exit 5' TERM; echo up; sleep 30 & wait").timeout(500ms));
  CHECK(got.status.reason() == end_reason::timed_out);
  CHECK(got.std_out == "up\ntrapped\n");
  got = co_await place.exec(where, argv("--bind", "/", "/"));
  CHECK(got.status.reason() == end_reason::start_failed);
  got = co_await place.exec(where, command("ls -d /proc/[0-9]* | wc -l"));
  CHECK(std::atoi(got.std_out.c_str()) <= 5);
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: the environment is the caller's, but for sockets and directories that are not there") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  setenv("BERTH_TEST_LINES", "a\nb=c", 1);
  setenv("SSH_AUTH_SOCK", "/run/none", 1);
  process_context_options options = isolated(at.path().string());
  options.env.emplace_back("LD_PRELOAD", at / "evil.so");
  context place = make_process_context(io, options);
  const handle where = co_await place.spawn();
  const exec_result got = co_await place.exec(
      where, command("echo \"$BERTH_TEST_LINES\"; echo \"[$SSH_AUTH_SOCK$TMPDIR]\"; echo $LD_PRELOAD"));
  CHECK(got.std_out == "a\nb=c\n[]\n" + at / "evil.so" + "\n");
  unsetenv("BERTH_TEST_LINES");
  unsetenv("SSH_AUTH_SOCK");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: what is left running ends with the handle, and so does its /tmp") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  const exec_result got =
      co_await place.exec(where, command("sleep 300 >/dev/null 2>&1 & setsid sleep 300 >/dev/null 2>&1 & "
                                         "mkdir -p /tmp/a/b; echo x >/tmp/a/b/c"));
  CHECK(got.ok());
  co_await place.destroy(where);
  for (const auto& each : fs::directory_iterator(private_temporary_directory())) {
    CHECK(each.path().filename().string().find("berth-tmp-") == std::string::npos);
  }
}

ASYNC_TEST("isolation: a sandbox that is killed from outside is lost whole, and the next command gets another") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  process running = co_await place.exec_stream(where, command("echo started; sleep 300"));
  auto piece = co_await running.next();
  CHECK(piece->bytes() == "started\n");
  const std::vector<pid_t> before = residents();
  CHECK(before.size() == 1);
  ::kill(before.front(), SIGKILL);
  const exit_status status = co_await running.wait();
  CHECK(status.reason() == end_reason::lost);
  const exec_result again = co_await place.exec(where, command("echo again"));
  CHECK(again.std_out == "again\n");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: a terminal inside has job control, and the terminal of this program is out of reach") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  exec_result got = co_await place.exec(where, command("bash -ic 'sleep 30 & jobs; kill %1; tty'").terminal(80, 24));
  CHECK(got.std_out.find("Running") != std::string::npos);
  CHECK(got.std_out.find("/dev/pts/") != std::string::npos);
  CHECK(got.std_out.find("job control") == std::string::npos);
  got = co_await place.exec(where, command("cat </dev/tty"));
  CHECK(!got.ok());
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: without a bwrap nothing runs, and each kind of command says why") {
  const temp_dir at;
  const temp_dir bin;
  // The working directory holds the only candidate that PATH has; the usual places are looked at too, so they are made roots.
  isolation_settings settings;
  settings.writable_roots({"/usr", "/bin"}).allow_wide_roots();
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  const std::string marker = "touch " + at / "marker";
  const exec_result got = co_await place.exec(where, command(marker));
  CHECK(got.status.reason() == end_reason::start_failed);
  CHECK(got.status.code() == 127);
  CHECK(got.status.message().starts_with("[isolation] "));
  CHECK(got.status.message().ends_with("; command was not run"));
  CHECK(got.status.message().find("install bubblewrap") != std::string::npos);
  process stream = co_await place.exec_stream(where, command(marker));
  const exit_status streamed = co_await stream.wait();
  CHECK(streamed.code() == 127);
  background behind = co_await place.exec_background(where, command(marker));
  const exit_status waited = co_await behind.wait();
  CHECK(waited.code() == 127);
  CHECK(!fs::exists(at / "marker"));
  write_whole_file(at / "f", "read");
  const std::string read = co_await place.read_file(where, at / "f");
  CHECK(read == "read");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: a bwrap in a root is not taken, whatever PATH says, nor one that others may write") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  const temp_dir other;
  for (const std::string& each : {at / "bwrap", other / "bwrap"}) {
    write_whole_file(each, "#!/bin/sh\ntouch " + at / "ran" + "\n");
    fs::permissions(each, fs::perms::all);
  }
  const variable_is first("PATH", at.path().string() + ":" + other.path().string() + ":.:" + std::getenv("PATH"));
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  const exec_result got = co_await place.exec(where, command("echo real"));
  CHECK(got.std_out == "real\n");
  CHECK(!fs::exists(at / "ran"));
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: a bwrap that fails is named with its first line, and once it works again commands run") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  const temp_dir other;
  write_whole_file(other / "bwrap", "#!/bin/sh\necho \"bwrap: Can't mount proc on /newroot/proc: no\" >&2\nexit 1\n");
  fs::permissions(other / "bwrap", fs::perms::owner_all);
  const variable_is named("BERTH_BWRAP", other / "bwrap");
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  const exec_result got = co_await place.exec(where, command("touch marker"));
  CHECK(got.status.code() == 127);
  CHECK(got.status.message().find("Can't mount proc") != std::string::npos);
  CHECK(got.status.message().find("systempaths") != std::string::npos);
  CHECK(!fs::exists(at / "marker"));
  fs::remove(other / "bwrap");
  fs::create_symlink("/usr/bin/bwrap", other / "bwrap");
  const exec_result again = co_await place.exec(where, command("echo runs"));
  CHECK(again.std_out == "runs\n");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation: a working directory that became a link is not followed") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  const temp_dir outside;
  fs::create_directory(at / "cwd");
  process_context_options options = isolated(at.path().string());
  options.cwd = at / "cwd";
  context place = make_process_context(io, options);
  const handle where = co_await place.spawn();
  const std::vector<pid_t> before = residents();
  fs::rename(at / "cwd", at / "old");
  fs::create_directory_symlink(outside.path(), at / "cwd");
  ::kill(before.front(), SIGKILL);
  const auto lost = [] { return residents().empty(); };
  const bool gone = co_await becomes_true(lost);
  CHECK(gone);
  for (int i = 0; i < 3; ++i) {
    const exec_result got = co_await place.exec(where, command("touch x"));
    CHECK(!got.ok());
  }
  CHECK(fs::is_empty(outside.path()));
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
