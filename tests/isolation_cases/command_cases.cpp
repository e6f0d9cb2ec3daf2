/// Cases 43-46, 53-55, 57, 58, 61-64 and 67: commands, terminals and ends.
#include "isolation_cases/case_site.hpp"
#include "isolation_cases/surroundings.hpp"
#include "support/proc_scan.hpp"
#include "support/running.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

ASYNC_TEST_FOR("isolation 43: a library that the environment preloads runs inside only", case_patience) {
  if (lacks("isolation 43") || lacks("isolation 43", "/usr/bin/cc")) co_return;
  const case_site site;
  write_whole_file(site.root() + "/evil.c",
                   "#include <fcntl.h>\n#include <stdlib.h>\n#include <unistd.h>\n"
                   "__attribute__((constructor)) static void run(void) {\n"
                   "  close(open(\"ran\", O_CREAT | O_WRONLY, 0600));\n"
                   "  chdir(getenv(\"OUT\") ? getenv(\"OUT\") : \"" +
                       site.outside() + "\"); close(open(\"ran\", O_CREAT | O_WRONLY, 0600)); }\n");
  auto [place, where] = co_await open_site(io, site, sees_sites());
  exec_result got = co_await place.exec(where, command("cc -shared -fPIC -o evil.so evil.c 2>&1 || true"));
  CHECK(fs::exists(site.root() + "/evil.so"));
  co_await place.destroy(where);
  process_context_options options = site.options(sees_sites());
  options.env.emplace_back("LD_PRELOAD", site.root() + "/evil.so");
  context preloading = make_process_context(io, options);
  const handle there = co_await preloading.spawn();
  const std::string before = site.untouchable();
  got = co_await preloading.exec(there, command("echo runs"));
  CHECK(got.std_out == "runs\n");
  CHECK(fs::exists(site.root() + "/ran"));
  CHECK(site.untouchable() == before);
  co_await preloading.destroy(there);
}

ASYNC_TEST_FOR("isolation 44: a bwrap in a root is not taken, whatever PATH says", case_patience) {
  if (lacks("isolation 44")) co_return;
  const case_site site;
  write_whole_file(site.root() + "/bwrap", "#!/bin/sh\necho x >" + site.root() + "/ran\n");
  fs::permissions(site.root() + "/bwrap", fs::perms::owner_all);
  const variable_is path("PATH", site.root() + ":.:" + std::getenv("PATH"));
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command("echo real").env("PATH", site.root() + ":/usr/bin:/bin"));
  CHECK(got.std_out == "real\n");
  CHECK(!fs::exists(site.root() + "/ran"));
  co_await place.destroy(where);
}

constexpr const char* leaves_two =
    "sleep 271 >/dev/null 2>&1 & setsid sleep 271 >/dev/null 2>&1 & sleep 0.2; echo left";

std::size_t left_running() {
  std::size_t count = 0;
  for (const process_info& each : all_processes()) {
    if (each.dead() || command_line_of(each.pid) != "sleep 271") continue;
    count += variable_of(each.pid, "BERTH_TEST_ID") == std::getenv("BERTH_TEST_ID") ? 1 : 0;
  }
  return count;
}

ASYNC_TEST_FOR("isolation 45, 46: what a command left running is gone when the handle is destroyed", case_patience) {
  if (lacks("isolation 45, 46")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command(leaves_two));
  CHECK(got.std_out == "left\n");
  CHECK(left_running() == 2);
  co_await place.destroy(where);
  CHECK(left_running() == 0);
}

ASYNC_TEST_FOR("isolation 45, 46: with end_leftovers it is gone when the command ends", case_patience) {
  if (lacks("isolation 45, 46")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command(leaves_two).end_leftovers());
  CHECK(got.std_out == "left\n");
  CHECK(left_running() == 0);
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 53, 54: exit codes and signals", case_patience) {
  if (lacks("isolation 53, 54")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  exec_result got = co_await place.exec(where, command("exit 3"));
  CHECK(got.status == exit_status::exited(3));
  got = co_await place.exec(where, command("kill -9 $$"));
  CHECK(got.status == exit_status::signaled(SIGKILL));
  CHECK(got.status.code() == 137);
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 55: a shell that is not there is 127, and nothing ran", case_patience) {
  if (lacks("isolation 55")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command("touch marker").shell("/none/sh"));
  CHECK(got.status.reason() == end_reason::start_failed);
  CHECK(got.status.code() == 127);
  CHECK(!fs::exists(site.root() + "/marker"));
  co_await place.destroy(where);
}

task<bool> is_ok(running<exit_status>& ended) {
  const exit_status status = co_await ended.result();
  CHECK(status.ok());
  co_return status.ok();
}

TEST_CASE("isolation 57: a command lives on when the thread that opened the sandbox exits") {
  if (lacks("isolation 57")) return;
  leak_check leaks;
  {
    const case_site site;
    asio::io_context io;
    context place = make_process_context(io, site.options());
    std::optional<running<exit_status>> ending;
    std::thread opener([&] {
      const auto run = [](context at) -> task<exit_status> {
        const handle where = co_await at.spawn();
        process started = co_await at.exec_stream(where, command("echo up; sleep 0.7; echo lives"));
        std::string seen;
        for (auto piece = co_await started.next(); piece; piece = co_await started.next()) seen += piece->bytes();
        CHECK(seen == "up\nlives\n");
        co_return co_await started.wait();
      };
      ending.emplace(io.get_executor(), run(place));
      const auto until = std::chrono::steady_clock::now() + 400ms;
      while (std::chrono::steady_clock::now() < until) io.run_one_until(until);
    });
    opener.join();
    while (!ending->ended()) io.run_one();
    running<bool> checked(io.get_executor(), is_ok(*ending));
    while (!checked.ended()) io.run_one();
  }
  for (const std::string& each : leaks.left_over()) FAIL_CHECK(each);
}

ASYNC_TEST_FOR("isolation 58: a terminal has ^C, ^Z and jobs", case_patience) {
  if (lacks("isolation 58") || lacks("isolation 58", "/bin/bash")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  terminal_options options;
  command shell = command(std::vector<std::string>{"/bin/bash", "--norc", "--noprofile", "-i"}).env("PS1", "ready> ");
  options.run(std::move(shell));
  terminal screen = co_await place.open_terminal(where, std::move(options));
  const auto shows = [&screen](const char* text) { return screen.wait_for_output(text, case_patience / 2); };
  bool seen = (co_await shows("ready> ")).has_value();
  CHECK(seen);
  co_await screen.write("echo up; sleep 272\n");
  seen = (co_await shows("up\r\n")).has_value();
  CHECK(seen);
  co_await pause_for(300ms);
  co_await screen.write("\x03");
  co_await screen.write("echo code=$?\n");
  seen = (co_await shows("code=130")).has_value();
  CHECK(seen);
  co_await screen.write("echo again; sleep 273\n");
  seen = (co_await shows("again\r\n")).has_value();
  CHECK(seen);
  co_await pause_for(300ms);
  co_await screen.write("\x1a");
  seen = (co_await shows("Stopped")).has_value();
  CHECK(seen);
  co_await screen.write("kill -9 %1; sleep 0.3; jobs\n");
  seen = (co_await shows("Killed")).has_value();
  CHECK(seen);
  (void)co_await screen.kill();
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 58: input can be pushed into no terminal", case_patience) {
  if (lacks("isolation 58") || lacks("isolation 58", "/usr/bin/python3")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  // TIOCSTI, the same with a bit above what the kernel looks at, and TIOCLINUX.
  for (const std::string request : {"0x5412", "0x100005412", "0x541c", "0x10000541c"}) {
    CAPTURE(request);
    const std::string text = "python3 -c 'from attempt import *; control(0, " + request + ")'";
    const exec_result got = co_await place.exec(where, command(text).terminal(80, 24));
    CHECK(got.status.code() == 1);
    CHECK(got.std_out.find(not_permitted) != std::string::npos);
  }
  const exec_result got = co_await place.exec(where, command("exec 2>&1; cat </dev/tty"));
  CHECK(got.std_out.find("No such device") != std::string::npos);
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 61: a command that looks like an option of bwrap is a command", case_patience) {
  if (lacks("isolation 61")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  const std::vector<std::string> words{"--bind", "/", "/"};
  exec_result got = co_await place.exec(where, command(words));
  CHECK(got.status.code() == 127);
  got = co_await place.exec(where, command("--bind / /"));
  CHECK(got.status.code() != 0);
  got = co_await place.exec(where, command("echo $OUT"));
  CHECK(got.std_out == site.outside() + "\n");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 62: a trap inside runs when the command is told to end", case_patience) {
  if (lacks("isolation 62")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  process running_one =
      co_await place.exec_stream(where, command("trap 'echo trapped; exit 5' TERM; echo up; sleep 274 & wait"));
  std::string seen;
  while (seen.find("up\n") == std::string::npos) {
    auto piece = co_await running_one.next();
    if (!piece) break;
    seen += piece->bytes();
  }
  running_one.signal(SIGTERM);
  for (auto piece = co_await running_one.next(); piece; piece = co_await running_one.next()) seen += piece->bytes();
  const exit_status status = co_await running_one.wait();
  CHECK(seen == "up\ntrapped\n");
  CHECK(status.code() == 5);
  co_await place.destroy(where);
}

TEST_CASE("isolation 63: an owner that is killed leaves nothing running") {
  if (lacks("isolation 63")) return;
  leak_check leaks;
  {
    const temp_dir its_tmp;
    const variable_is tmpdir("TMPDIR", its_tmp.path().string());
    const std::string said = run_owner_and_kill([&] {
      // The resident, the sleepers of a stream, a background command and a terminal, and those that left their session.
      CHECK(leaks.commands().size() >= 5);
    });
    CHECK(said == "ready\n");
  }
  for (const std::string& each : leaks.left_over(5s)) FAIL_CHECK(each);
}

TEST_CASE("isolation 64: bwrap goes: open sandboxes stay sandboxed, and where one must be opened it is 127") {
  if (lacks("isolation 64")) return;
  leak_check leaks;
  const self_end got = run_self(
      "cp /usr/bin/bwrap $TMPDIR/bwrap; export PATH=$TMPDIR:$PATH; "
      "unshare -U -r -m sh -c \"mount --bind /dev/null /usr/bin/bwrap && exec $SELF gone\"");
  CAPTURE(got.output);
  CHECK(got.code == 0);
  for (const std::string& each : leaks.left_over()) FAIL_CHECK(each);
}

ASYNC_TEST_FOR("isolation 67: long commands are whole or an error, never cut short", case_patience) {
  if (lacks("isolation 67")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  std::vector<std::string> words{"sh", "-c", "echo $#", "sh"};
  words.resize(4 + 10000, "word");
  exec_result got = co_await place.exec(where, command(words));
  CHECK(got.std_out == "10000\n");
  const std::string longest(100 << 10, 'x');  // of one word the kernel takes 128 KiB
  got = co_await place.exec(where, command("echo " + longest + " | wc -c"));
  CHECK(got.std_out == std::to_string(longest.size() + 1) + "\n");
  got = co_await place.exec(where, command("touch marker; echo " + longest + longest));
  const bool is_whole = got.std_out == longest + longest + "\n";
  const bool is_error = got.status.reason() == end_reason::start_failed && got.std_out.empty();
  CHECK((is_whole || is_error));
  CHECK(fs::exists(site.root() + "/marker") == is_whole);
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 67: a NUL in a command or a root is an error", case_patience) {
  if (lacks("isolation 67")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  std::error_code code;
  try {
    (void)co_await place.exec(where, command(std::string("touch a\0b", 9)));
  } catch (const error& failure) {
    code = failure.code();
  }
  CHECK(code == errc::invalid_argument);
  CHECK(!fs::exists(site.root() + "/a"));
  co_await place.destroy(where);
  code.clear();
  try {
    const isolation_settings settings = isolation_settings().writable_roots({std::string("/tmp\0/x", 7)});
    auto opened = co_await open_site(io, site, settings);
  } catch (const error& failure) {
    code = failure.code();
  }
  CHECK(code == errc::invalid_argument);
}

}  // namespace
}  // namespace berth::test
