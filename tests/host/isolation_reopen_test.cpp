/// The sandbox of a handle is opened again when its plan can no longer be true.
#include "host/host_world.hpp"
#include "support/temp_dir.hpp"

#include <berth/background.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <mutex>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

struct heard {
  std::vector<std::string> lines;

  bool has(std::string_view text) const {
    const auto holds = [text](const std::string& line) { return line.find(text) != std::string::npos; };
    return std::any_of(lines.begin(), lines.end(), holds);
  }
};

process_context_options isolated_with(heard& log, const std::string& cwd) {
  process_context_options options = isolated(cwd);
  options.log = [&log](log_level, std::string_view line) { log.lines.emplace_back(line); };
  return options;
}

ASYNC_TEST("isolation reopen: what is protected once it has appeared; what runs goes on and shares /tmp") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  heard log;
  context place = make_process_context(io, isolated_with(log, at.path().string()));
  const handle where = co_await place.spawn();
  process old = co_await place.exec_stream(
      where, command("echo up; until test -e /tmp/go; do sleep 0.01; done; cat /tmp/go; echo old >/tmp/back"));
  auto piece = co_await old.next();
  CHECK(piece->bytes() == "up\n");
  exec_result got = co_await place.exec(where, command("mkdir -p .git/hooks; echo mine >.git/config"));
  CHECK(got.ok());
  CHECK(residents().size() == 1);
  got = co_await place.exec(
      where, command("echo x >.git/config; echo x >.git/hooks/h; mv .git g; echo new >/tmp/go; cat .git/config"));
  CHECK(got.std_out == "mine\n");
  CHECK(got.std_err.find("Read-only file system") != std::string::npos);
  CHECK(got.std_err.find("busy") != std::string::npos);
  CHECK(residents().size() == 2);
  CHECK(log.has("another sandbox"));
  piece = co_await old.next();
  CHECK(piece->bytes() == "new\n");
  const exit_status status = co_await old.wait();
  CHECK(status == exit_status::exited(0));
  got = co_await place.exec(where, command("cat /tmp/back"));
  CHECK(got.std_out == "old\n");
  CHECK(residents().size() == 2);  // nothing has changed since
  co_await place.destroy(where);
  CHECK(residents().empty());
}

ASYNC_TEST("isolation reopen: what is protected is so again after somebody outside has replaced it") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  fs::create_directory(at / ".git");
  write_whole_file(at / ".git/config", "first");
  heard log;
  context place = make_process_context(io, isolated_with(log, at.path().string()));
  const handle where = co_await place.spawn();
  for (const char* each : {"second", "third"}) {
    exec_result got = co_await place.exec(where, command("echo x >.git/config"));
    CHECK(!got.ok());
    write_whole_file(at / "new", each);
    fs::rename(at / "new", at / ".git/config");  // the mount on it is gone with that
    got = co_await place.exec(where, command("cat .git/config; echo x >.git/config"));
    CHECK(got.std_out == each);
    CHECK(!got.ok());
  }
  CHECK(read_whole_file(at / ".git/config") == "third");
  // Not each of many changes leaves a sandbox.
  for (int i = 0; i < 8; ++i) {
    write_whole_file(at / "new", "more");
    fs::rename(at / "new", at / ".git/config");
    const exec_result got = co_await place.exec(where, command("true"));
    CHECK(got.ok());
  }
  CHECK(residents().size() <= 6);
  co_await place.destroy(where);
}

ASYNC_TEST("isolation reopen: a root that was made anew is the one that commands get") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  fs::create_directory(at / "cwd");
  heard log;
  context place = make_process_context(io, isolated_with(log, at / "cwd"));
  const handle where = co_await place.spawn();
  exec_result got = co_await place.exec(where, command("touch a"));
  CHECK(got.ok());
  fs::rename(at / "cwd", at / "old");
  fs::create_directory(at / "cwd");
  got = co_await place.exec(where, command("touch b; ls"));
  CHECK(got.std_out == "b\n");
  CHECK(fs::exists(at / "cwd/b"));
  CHECK_FALSE(fs::exists(at / "old/b"));
  fs::remove_all(at / "cwd");
  fs::create_directory(at / "cwd");  // perhaps with the same number
  got = co_await place.exec(where, command("touch c; ls"));
  CHECK(got.std_out == "c\n");
  CHECK(fs::exists(at / "cwd/c"));
  co_await place.destroy(where);
}

ASYNC_TEST("isolation reopen: a root that became a link starts no command until it is a directory again") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  const temp_dir outside;
  fs::create_directory(at / "cwd");
  heard log;
  context place = make_process_context(io, isolated_with(log, at / "cwd"));
  const handle where = co_await place.spawn();
  fs::rename(at / "cwd", at / "old");
  fs::create_directory_symlink(outside.path(), at / "cwd");
  for (int i = 0; i < 2; ++i) {
    const exec_result got = co_await place.exec(where, command("touch x; touch " + outside / "y"));
    CHECK(got.status.reason() == end_reason::start_failed);
    CHECK(got.status.code() == 127);
    CHECK(got.status.message().find("replaced by a link") != std::string::npos);
  }
  CHECK(fs::is_empty(outside.path()));
  CHECK(fs::is_empty(at / "old"));
  fs::remove(at / "cwd");
  fs::rename(at / "old", at / "cwd");
  const exec_result got = co_await place.exec(where, command("touch x"));
  CHECK(got.ok());
  CHECK(fs::exists(at / "cwd/x"));
  co_await place.destroy(where);
}

ASYNC_TEST("isolation reopen: a worktree that appears brings its repository, and ends what could redirect its mounts") {
  if (!has_bwrap() || !fs::exists("/usr/bin/git")) co_return;
  const temp_dir at;
  const temp_dir repository;
  const std::string git = "git -c user.name=n -c user.email=e -C " + repository.path().string();
  const std::string set_up = git + " init -q && " + git + " commit -q --allow-empty -m first && " + git;
  heard log;
  context place = make_process_context(io, isolated_with(log, at.path().string()));
  const handle where = co_await place.spawn();
  background left = co_await place.exec_background(where, command("sleep 300"));
  const std::string worktree = set_up + " worktree add -q -f " + at.path().string() + " -b side";
  REQUIRE(std::system(worktree.c_str()) == 0);
  const std::string commit =
      "git config --global --add safe.directory '*' 2>/dev/null; touch f && git add f && "
      "git -c user.name=n -c user.email=e -c safe.directory='*' commit -q -m second && git log --format=%s";
  const exec_result got = co_await place.exec(where, command(commit).env("HOME", "/tmp"));
  CHECK_MESSAGE(got.std_out == "second\nfirst\n", got.std_err);
  CHECK(log.has("new writable root below /tmp"));
  const exit_status ended = co_await left.wait();
  CHECK(ended.reason() == end_reason::lost);
  const exec_result config = co_await place.exec(where, command("echo x >" + repository / ".git/config"));
  CHECK(config.std_err.find("Read-only file system") != std::string::npos);
  co_await place.destroy(where);
}

ASYNC_TEST("isolation reopen: what holds a root in the private /tmp cannot be moved by a command") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  const std::string path = at.path().string();
  if (!path.starts_with("/tmp/")) co_return;
  heard log;
  context place = make_process_context(io, isolated_with(log, path));
  const handle where = co_await place.spawn();
  const std::string name = path.substr(5, path.find('/', 5) - 5);
  const exec_result got =
      co_await place.exec(where, command("mv /tmp/" + name + " /tmp/y; mv /var/tmp/" + name + " /var/tmp/y; ls /tmp"));
  CHECK(got.std_out == name + "\n");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation reopen: commands that start together share a look, and all see a change before them") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  heard log;
  context place = make_process_context(io, isolated_with(log, at.path().string()));
  const handle where = co_await place.spawn();
  fs::create_directories(at / ".git");
  write_whole_file(at / ".git/config", "host");
  std::vector<running<exec_result>> all;
  for (int i = 0; i < 16; ++i) all.emplace_back(io.get_executor(), place.exec(where, command("echo x >.git/config")));
  all.front().cancel();
  for (auto& each : all) {
    try {
      const exec_result got = co_await each.result();
      CHECK(!got.ok());
    } catch (const std::system_error&) {
      continue;  // the one that was cancelled
    }
  }
  CHECK(read_whole_file(at / ".git/config") == "host");
  CHECK(residents().size() == 2);
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
