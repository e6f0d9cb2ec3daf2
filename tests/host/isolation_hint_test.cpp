/// What commands in a sandbox were denied, as their callers see it.
#include "host/host_world.hpp"
#include "support/temp_dir.hpp"

#include <berth/background.hpp>
#include <berth/terminal.hpp>

#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

/// A place whose sandbox has one root, which also holds directories for it to find.
struct hinted {
  explicit hinted(asio::io_context& io, isolation_settings settings = {}) {
    place.emplace(make_process_context(io, isolated(at.path().string(), std::move(settings))));
  }

  temp_dir at;
  temp_dir outside;
  std::optional<context> place;
  handle where;
};

int hints_in(const std::string& text) {
  int count = 0;
  for (auto found = text.find("[isolation]"); found != text.npos; found = text.find("[isolation]", found + 1)) ++count;
  return count;
}

ASYNC_TEST("hint: a write outside the roots is told once, with the roots and the setting, whatever the exit code") {
  if (!has_bwrap()) co_return;
  isolation_settings settings;
  settings.setting_name("app.write").tmp(tmp_kind::host);
  hinted here(io, std::move(settings));
  here.where = co_await here.place->spawn();
  const std::string target = here.outside / "x";
  exec_result got = co_await here.place->exec(here.where, command("echo x >" + target));
  CHECK(got.status == exit_status::exited(2));
  CHECK(hints_in(got.std_err) == 1);
  CHECK(got.std_err.ends_with("[isolation] write to " + target + " may have been blocked: writable roots are " +
                              here.at.path().string() + "; add the directory to app.write to allow it\n"));
  CHECK(got.err.seen() < got.std_err.size());
  REQUIRE(got.denied.has_value());
  CHECK(got.denied->kind == denied_kind::write);
  CHECK(got.denied->path == target);
  got = co_await here.place->exec(here.where, command("touch " + target + " | cat; touch " + target + "; true"));
  CHECK(got.ok());
  CHECK(hints_in(got.std_err) == 1);
  CHECK(!fs::exists(target));
  co_await here.place->destroy(here.where);
}

ASYNC_TEST("hint: none for failures of a command's own") {
  if (!has_bwrap()) co_return;
  isolation_settings settings;
  hinted here(io, settings.tmp(tmp_kind::host));
  here.where = co_await here.place->spawn();
  fs::create_directory(here.at / "sandbox");
  write_whole_file(here.at / "sandbox/locked", "x");
  fs::permissions(here.at / "sandbox/locked", fs::perms::none);
  write_whole_file(here.outside / "of-another", "x");
  fs::permissions(here.outside / "of-another", fs::perms::owner_all);
  const bool is_root = ::chown((here.outside / "of-another").c_str(), 65534, 65534) == 0;
  const std::string another = is_root ? "cat " + here.outside / "of-another" : "false";
  for (const std::string text :
       {another.c_str(), "false", "cat sandbox/locked", "cat sandbox/none; false", "echo denied >&2; exit 1",
        "cat /etc/none-of-berth", "echo 'a Read-only file system is fine' >&2"}) {
    CAPTURE(text);
    const exec_result got = co_await here.place->exec(here.where, command(text));
    CHECK(hints_in(got.std_err) == 0);
    CHECK(!got.denied);
  }
  const exec_result missing = co_await here.place->exec(here.where, argv("berth-no-such-program"));
  CHECK(missing.status.reason() == end_reason::start_failed);
  CHECK(!missing.denied);
  co_await here.place->destroy(here.where);
}

ASYNC_TEST("hint: the network, a protected path, and what only the /tmp of this host has") {
  if (!has_bwrap()) co_return;
  hinted here(io);
  fs::create_directories(here.at / ".git/hooks");
  write_whole_file(here.outside / "there", "x");
  here.where = co_await here.place->spawn();
  exec_result got = co_await here.place->exec(here.where, command("bash -c 'echo x >/dev/tcp/127.0.0.1/9'"));
  REQUIRE(got.denied.has_value());
  CHECK(got.denied->kind == denied_kind::network);
  CHECK(
      got.std_err.ends_with("[isolation] network is off for this context (isolation.network = deny); the loopback "
                            "of this host is out of reach too\n"));
  got = co_await here.place->exec(here.where, command("echo x >.git/hooks/pre-commit"));
  CHECK(got.std_err.ends_with("is protected (isolation.protected_paths)\n"));
  got = co_await here.place->exec(here.where, command("mv .git .g"));
  CHECK(hints_in(got.std_err) == 1);
  got = co_await here.place->exec(here.where, command("cat " + here.outside / "there"));
  REQUIRE(got.denied.has_value());
  CHECK(got.denied->kind == denied_kind::tmp);
  got = co_await here.place->exec(here.where, command("cat " + here.outside / "not-there"));
  CHECK(!got.denied);
  co_await here.place->destroy(here.where);
}

ASYNC_TEST("hint: what this host has in /proc and /dev is not asked about, whatever link leads there") {
  if (!has_bwrap()) co_return;
  hinted here(io);
  here.where = co_await here.place->spawn();
  const std::string own = "/proc/" + std::to_string(::getpid());
  fs::create_symlink(own + "/cwd", here.at / "link");
  fs::create_symlink("/dev/fd", here.at / "fds");
  const std::string open = "/proc/self/fd/" + std::to_string(::dup(STDIN_FILENO));
  for (const std::string& each : {own + "/cwd/x", std::string("/proc/self/cwd/x"), std::string("/proc/self/root/var/x"),
                                  std::string("/dev/fd/0/x"), own + "/task/x", std::string("link/x"),
                                  here.at / "link/x", std::string("fds/1"), std::string("/dev/null"), open}) {
    CAPTURE(each);
    const exec_result got = co_await here.place->exec(
        here.where, command("echo \"touch: cannot touch '" + each + "': Read-only file system\" >&2; exit 1"));
    CHECK(got.std_err.find(fs::current_path().string()) == std::string::npos);
    if (got.denied) CHECK(got.denied->path == "");
  }
  ::close(std::stoi(open.substr(open.rfind('/') + 1)));
  const exec_result setting = co_await here.place->exec(here.where, command("echo 1 >/proc/sys/kernel/panic"));
  CHECK((::geteuid() != 0 || setting.denied.has_value()));
  co_await here.place->destroy(here.where);
}

ASYNC_TEST("hint: streams, background commands and terminals have it as their last line, a leftover or not") {
  if (!has_bwrap()) co_return;
  hinted here(io);
  here.where = co_await here.place->spawn();
  process stream = co_await here.place->exec_stream(here.where, command("sleep 60 & touch /etc/berth-test"));
  bool was_hint = false;
  for (;;) {
    const auto piece = co_await stream.next();
    if (!piece) break;
    was_hint = piece->is_hint();
  }
  CHECK(was_hint);
  CHECK(stream.streams_open());
  CHECK(stream.denied()->path == "/etc/berth-test");
  background behind = co_await here.place->exec_background(here.where, command("touch /etc/berth-test"));
  (void)co_await behind.wait();
  CHECK(hints_in(behind.tail(output_stream::std_err).bytes()) == 1);
  CHECK(hints_in(behind.tail(output_stream::std_out).bytes()) == 0);
  terminal shown =
      co_await here.place->open_terminal(here.where, terminal_options().run(command("touch /etc/berth-test")));
  (void)co_await shown.exited();
  CHECK(hints_in(shown.tail().bytes()) == 1);
  CHECK(shown.tail().bytes().ends_with("to allow it\r\n"));
  const exec_result merged = co_await here.place->exec(here.where, command("touch /etc/berth-test").merge_stderr());
  CHECK(hints_in(merged.std_out) == 1);
  CHECK(merged.std_err == "");
  const exec_result quiet = co_await here.place->exec(here.where, command("touch /etc/berth-test").hints(false));
  CHECK(hints_in(quiet.std_err) == 0);
  CHECK(quiet.denied.has_value());
  co_await here.place->destroy(here.where);
}

ASYNC_TEST("hint: a command that a deadline ended, and one that prints without end") {
  if (!has_bwrap()) co_return;
  hinted here(io);
  here.where = co_await here.place->spawn();
  const std::string text = "touch /etc/berth-test; head -c 40000 /dev/zero >&2; sleep 60";
  const exec_result late = co_await here.place->exec(here.where, command(text).timeout(500ms).grace(0ms));
  CHECK(late.status.reason() == end_reason::timed_out);
  CHECK(late.denied.has_value());
  CHECK(hints_in(late.std_err) == 1);
  const exec_result loud = co_await here.place->exec(
      here.where, command("touch /etc/berth-test; head -c 3000000 /dev/zero >&2").output_limit(1000));
  CHECK(loud.err.seen() > 3000000);
  CHECK(!loud.denied);
  co_await here.place->destroy(here.where);
}

ASYNC_TEST("hint: outside of a sandbox there is none") {
  context place = make_host(io);
  const handle where = co_await place.spawn();
  const exec_result got =
      co_await place.exec(where, command("echo \"touch: cannot touch '/etc/x': Read-only file system\" >&2; exit 1"));
  CHECK(!got.denied);
  CHECK(hints_in(got.std_err) == 0);
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
