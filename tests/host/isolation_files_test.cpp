/// File operations of a handle with isolation.
#include "host/host_world.hpp"
#include "support/temp_dir.hpp"

#include <signal.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

struct refused {
  std::error_code code;
  std::string message;
};

task<refused> failure_of(task<void> work) {
  refused what;
  try {
    co_await std::move(work);
  } catch (const error& failure) {
    what.code = failure.code();
    what.message = failure.message();
  }
  co_return what;
}

task<void> dropped(task<transfer_progress> work) { (void)co_await std::move(work); }

ASYNC_TEST("isolation files: what is changed lies below a writable root, and who is refused hears which there are") {
  const temp_dir at;
  const temp_dir more;
  const temp_dir outside;
  write_whole_file(outside / "f", "out");
  fs::create_directory_symlink(outside.path(), at / "link");
  fs::create_symlink(outside / "f", at / "file_link");
  isolation_settings settings;
  settings.writable_roots({more.path().string()}).setting_name("my.roots").tmp(tmp_kind::host);
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  co_await place.write_file(where, "a/b", "in");
  co_await place.write_file(where, more / "f", "more");
  CHECK(read_whole_file(at / "a/b") == "in");
  CHECK(read_whole_file(more / "f") == "more");

  const refused first = co_await failure_of(place.write_file(where, outside / "new", "x"));
  CHECK(first.code == errc::permission_denied);
  for (const std::string& each : {outside / "new", at.path().string(), more.path().string(), std::string("my.roots")}) {
    CHECK_MESSAGE(first.message.find(each) != std::string::npos, first.message);
  }
  std::vector<refused> all;
  all.push_back(co_await failure_of(place.write_file(where, "link/new", "x")));
  all.push_back(co_await failure_of(place.write_file(where, "file_link", "x")));
  all.push_back(co_await failure_of(place.write_file(where, "../new", "x")));
  all.push_back(co_await failure_of(place.write_file(where, "/dev/shm/berth-test", "x")));
  all.push_back(co_await failure_of(place.make_directory(where, "link/new")));
  all.push_back(co_await failure_of(place.remove(where, "link/f")));
  all.push_back(co_await failure_of(place.rename(where, "link/f", "f")));
  all.push_back(co_await failure_of(place.rename(where, "a/b", "link/b")));
  all.push_back(co_await failure_of(place.remove(where, ".", remove_options().recursive())));
  all.push_back(co_await failure_of(dropped(place.upload(where, at / "a", "link/tree"))));
  all.push_back(co_await failure_of(dropped(place.upload(where, at / "a/b", "link/file"))));
  for (const refused& each : all) CHECK_MESSAGE(each.code == errc::permission_denied, each.message);
  CHECK(std::distance(fs::directory_iterator(outside.path()), fs::directory_iterator()) == 1);

  const std::string read = co_await place.read_file(where, "file_link");
  CHECK(read == "out");
  co_await place.remove(where, "file_link");  // the link itself lies in the root
  CHECK(read_whole_file(outside / "f") == "out");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: the private /tmp is one for commands and file operations, under each of its names") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  const std::string name = "berth-test-" + std::to_string(::getpid());
  co_await place.write_file(where, "/tmp/" + name, "kept");
  CHECK_FALSE(fs::exists("/tmp/" + name));
  exec_result got =
      co_await place.exec(where, command("cat /tmp/" + name + " /var/tmp/" + name + "; echo two >/tmp/b"));
  CHECK(got.std_out == "keptkept");
  std::string read = co_await place.read_file(where, "/var/tmp/../tmp/b");
  CHECK(read == "two\n");
  co_await place.rename(where, "/var/tmp/b", "b");
  CHECK(read_whole_file(at / "b") == "two\n");
  co_await place.make_directory(where, "/tmp/d/e");
  const file_info made = co_await place.stat(where, "/tmp/d/e");
  CHECK(made.is_directory());
  fs::create_directory(at / "up");
  write_whole_file(at / "up/f", "tree");
  (void)co_await place.upload(where, at / "up", "/tmp/d");
  (void)co_await place.download(where, "/tmp/d", at / "down");  // the host's end is where the caller says
  CHECK(read_whole_file(at / "down/f") == "tree");
  got = co_await place.exec(where, command("ls /tmp/d"));
  CHECK(got.std_out == "e\nf\n");
  co_await place.remove(where, "/tmp/d", remove_options().recursive());
  const auto listed = co_await place.list_files(where, "/tmp");
  CHECK(std::count_if(listed.begin(), listed.end(), [&](const auto& each) { return each.path() == name; }) == 1);
  CHECK(std::count_if(listed.begin(), listed.end(), [](const auto& each) { return each.path() == "d"; }) == 0);
  const refused root = co_await failure_of(place.remove(where, "/tmp", remove_options().recursive()));
  CHECK(root.code == errc::permission_denied);
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: what holds a root in the private /tmp stays, under each of its names") {
  const temp_dir at;
  if (!at.path().string().starts_with("/tmp/")) co_return;
  fs::create_directories(at / "deep/w");
  write_whole_file(at / "deep/file", "mine");
  isolation_settings settings;
  settings.writable_roots({at / "deep/file"});
  context place = make_process_context(io, isolated(at / "deep/w", settings));
  const handle where = co_await place.spawn();
  const std::string other = "/var/tmp" + (at / "deep").substr(std::string("/tmp").size());
  std::vector<refused> all;
  all.push_back(co_await failure_of(place.remove(where, other, remove_options().recursive())));
  all.push_back(co_await failure_of(place.remove(where, other + "/w", remove_options().recursive())));
  all.push_back(co_await failure_of(place.rename(where, other, "/tmp/moved")));
  all.push_back(co_await failure_of(place.remove(where, other + "/file")));
  all.push_back(co_await failure_of(place.write_file(where, other + "/file", "x")));
  for (const refused& each : all) CHECK_MESSAGE(each.code == errc::permission_denied, each.message);
  if (has_bwrap()) {
    const exec_result got = co_await place.exec(where, command("cat ../file; echo hi >a"));
    CHECK(got.std_out == "mine");
    CHECK(read_whole_file(at / "deep/w/a") == "hi\n");
  }
  co_await place.write_file(where, other + "/beside", "x");
  co_await place.remove(where, other + "/beside");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: a root below another one stays, too") {
  const temp_dir at;
  fs::create_directories(at / "repo/sub/deep");
  isolation_settings settings;
  settings.writable_roots({at / "repo"});
  context place = make_process_context(io, isolated(at / "repo/sub", settings));
  const handle where = co_await place.spawn();
  std::vector<refused> all;
  all.push_back(co_await failure_of(place.rename(where, at / "repo/sub", at / "repo/other")));
  all.push_back(co_await failure_of(place.remove(where, at / "repo/sub", remove_options().recursive())));
  for (const refused& each : all) CHECK_MESSAGE(each.code == errc::permission_denied, each.message);
  co_await place.rename(where, at / "repo/sub/deep", at / "repo/deep");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: a handle whose directory became a link in a root is refused") {
  const temp_dir at;
  fs::create_directories(at / "repo");
  fs::create_directories(at / "victim");
  fs::create_directory_symlink("../victim", at / "repo/sub");
  isolation_settings settings;
  settings.writable_roots({at / "repo"});
  context place = make_process_context(io, isolated(at / "repo/sub", settings));
  std::string message;
  try {
    (void)co_await place.spawn();
  } catch (const error& refused) {
    message = refused.what();
  }
  CHECK(message.find("goes over the link") != std::string::npos);
}

ASYNC_TEST("isolation files: / as a root and a private /tmp leave the working directory in sight") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  isolation_settings settings;
  settings.writable_roots({"/"}).allow_wide_roots();
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  const exec_result got = co_await place.exec(where, command("pwd; echo hi >a; echo own >/tmp/b"));
  CHECK(got.std_out == at.path().string() + "\n");
  CHECK(got.std_err == "");
  CHECK(read_whole_file(at / "a") == "hi\n");
  co_await place.write_file(where, "a", "by file");
  CHECK(read_whole_file(at / "a") == "by file");
  const std::string own = co_await place.read_file(where, "/tmp/b");
  CHECK(own == "own\n");
  const refused root = co_await failure_of(place.remove(where, ".", remove_options().recursive()));
  CHECK(root.code == errc::permission_denied);
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: with the host's /tmp, writes there need a root") {
  const temp_dir at;
  const temp_dir other;
  isolation_settings settings;
  settings.tmp(tmp_kind::host);
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  write_whole_file(other / "f", "host");
  const std::string read = co_await place.read_file(where, other / "f");
  CHECK(read == "host");
  const refused got = co_await failure_of(place.write_file(where, other / "g", "x"));
  CHECK(got.code == errc::permission_denied);
  co_await place.write_file(where, "g", "x");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: hooks and config of a repository are protected, also once they have appeared") {
  const temp_dir at;
  context place = make_process_context(io, isolated(at.path().string()));
  const handle where = co_await place.spawn();
  co_await place.write_file(where, ".git/config", "mine");  // nothing is there yet
  std::vector<refused> all;
  all.push_back(co_await failure_of(place.write_file(where, ".git/config", "x")));
  all.push_back(co_await failure_of(place.remove(where, ".git/config")));
  all.push_back(co_await failure_of(place.rename(where, ".git", "git")));
  all.push_back(co_await failure_of(place.remove(where, ".git", remove_options().recursive())));
  fs::create_directories(at / "up/.git/hooks");
  write_whole_file(at / "up/.git/config", "up");
  all.push_back(co_await failure_of(dropped(place.upload(where, at / "up", "."))));
  for (const refused& each : all) {
    CHECK_MESSAGE(each.code == errc::permission_denied, each.message);
    CHECK_MESSAGE(each.message.find("isolation.protected_paths") != std::string::npos, each.message);
  }
  CHECK(read_whole_file(at / ".git/config") == "mine");
  co_await place.write_file(where, ".git/HEAD", "ref: refs/heads/main\n");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: no sandbox is needed for them to hold") {
  const temp_dir at;
  const temp_dir outside;
  isolation_settings settings;
  settings.writable_roots({"/usr", "/bin"}).allow_wide_roots();  // so that no bwrap is taken
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  const exec_result run = co_await place.exec(where, command("true"));
  CHECK(run.status.code() == 127);
  co_await place.write_file(where, "f", "in");
  co_await place.write_file(where, at / "g", "in");
  co_await place.write_file(where, "/tmp/f", "own");
  const std::string read = co_await place.read_file(where, "/var/tmp/f");
  CHECK(read == "own");
  const refused got = co_await failure_of(place.write_file(where, "/etc/berth-test", "x"));
  CHECK(got.code == errc::permission_denied);
  CHECK(!fs::exists("/etc/berth-test"));
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: a root that became a link leads nowhere, and one that was made anew is the root") {
  const temp_dir at;
  const temp_dir outside;
  fs::create_directory(at / "cwd");
  isolation_settings settings;
  settings.tmp(tmp_kind::host);  // so that the other directory is in sight
  process_context_options options = isolated(at.path().string(), settings);
  options.cwd = at / "cwd";
  context place = make_process_context(io, options);
  const handle where = co_await place.spawn();
  fs::rename(at / "cwd", at / "old");
  fs::create_directory_symlink(outside.path(), at / "cwd");
  (void)co_await failure_of(place.write_file(where, "f", "x"));
  (void)co_await failure_of(place.make_directory(where, at / "cwd/d"));
  CHECK(fs::is_empty(outside.path()));
  fs::remove(at / "cwd");
  fs::create_directory(at / "cwd");
  co_await place.write_file(where, "f", "new");
  CHECK(read_whole_file(at / "cwd/f") == "new");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: while no plan can be made nothing is changed, and all is read as before") {
  const temp_dir at;
  const temp_dir more;
  const temp_dir outside;
  fs::create_directory(more / "root");
  isolation_settings settings;
  settings.writable_roots({more / "root"});
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  co_await place.write_file(where, "/tmp/f", "own");
  co_await place.write_file(where, "f", "in");
  fs::remove(more / "root");
  fs::create_directory_symlink(outside.path(), more / "root");
  fs::create_directories(at / ".git/hooks");
  write_whole_file(at / ".git/config", "mine");
  std::vector<refused> all;
  all.push_back(co_await failure_of(place.write_file(where, ".git/config", "x")));
  all.push_back(co_await failure_of(place.remove(where, ".git/config")));
  all.push_back(co_await failure_of(place.rename(where, "f", "g")));
  all.push_back(co_await failure_of(place.make_directory(where, ".git/hooks/d")));
  all.push_back(co_await failure_of(dropped(place.upload(where, outside.path().string(), ".git/hooks"))));
  for (const refused& each : all) {
    CHECK_MESSAGE(each.code == errc::permission_denied, each.message);
    CHECK_MESSAGE(each.message.find("was replaced by a link") != std::string::npos, each.message);
  }
  CHECK(read_whole_file(at / ".git/config") == "mine");
  const std::string inside = co_await place.read_file(where, "f");
  const std::string own = co_await place.read_file(where, "/var/tmp/f");
  CHECK(inside + own == "inown");
  fs::remove(more / "root");
  fs::create_directory(more / "root");
  co_await place.write_file(where, "f", "again");
  co_await place.destroy(where);
}

ASYNC_TEST("isolation files: a command that swaps directories for links while files are written gets nothing out") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  const temp_dir outside;
  isolation_settings settings;
  settings.tmp(tmp_kind::host);  // so that the other directory is in sight
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  fs::create_directory(at / "swap");
  const std::string swapping = "import ctypes, os\nlibc = ctypes.CDLL(None)\nos.symlink('" + outside.path().string() +
                               "', 'evil')\nprint(1, flush=True)\n"
                               "while True: libc.renameat2(-100, b'swap', -100, b'evil', 2)\n";
  process swapper = co_await place.exec_stream(where, argv("python3", "-c", swapping));
  (void)co_await swapper.next();
  int done = 0, refusals = 0;
  const auto until = std::chrono::steady_clock::now() + 1s;
  while (std::chrono::steady_clock::now() < until) {
    const refused write = co_await failure_of(place.write_file(where, "swap/f", "x"));
    const refused make = co_await failure_of(place.make_directory(where, "swap/d/e"));
    for (const refused* each : {&write, &make}) (each->code ? refusals : done) += 1;
  }
  CHECK(done > 0);
  CHECK(refusals > 0);
  CHECK(fs::is_empty(outside.path()));
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
