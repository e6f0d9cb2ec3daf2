/// The private /tmp of a handle on the disk.
#include "host/private_tmp.hpp"

#include "host/host_world.hpp"
#include "os/without_capabilities.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <berth/error.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <set>
#include <thread>

extern char** environ;

namespace berth::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> private_directories(const fs::path& in) {
  std::vector<std::string> all;
  for (const auto& each : fs::directory_iterator(in)) {
    if (each.path().filename().string().starts_with("berth-tmp-")) all.push_back(each.path().string());
  }
  return all;
}

/// The program `owner` with a private /tmp, killed once it has one.
void run_and_kill_owner(const std::string& cwd) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const unique_fd from(ends[0]);
  unique_fd to(ends[1]);
  std::string path = BERTH_TEST_PROGRAMS "/owner", verb = "isolated";
  char* const words[] = {path.data(), verb.data(), nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to.get(), 1);
  posix_spawn_file_actions_addchdir_np(&actions, cwd.c_str());
  pid_t pid = 0;
  const int failure = ::posix_spawn(&pid, path.c_str(), &actions, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&actions);
  REQUIRE(failure == 0);
  to.reset();
  std::string said;
  pollfd poller = {from.get(), POLLIN, 0};
  while (said.find("ready\n") == std::string::npos && ::poll(&poller, 1, 20000) > 0) {
    char buffer[64];
    const ssize_t n = ::read(from.get(), buffer, sizeof buffer);
    if (n <= 0) break;
    said.append(buffer, static_cast<std::size_t>(n));
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  CHECK(said == "ready\n");
}

TEST_CASE("private tmp: it is ours, locked, and goes with its object, whatever is in it") {
  const temp_dir at;
  const variable_is here("TMPDIR", at.path().string());
  const temp_dir outside;
  write_whole_file(outside / "f", "out");
  std::string path;
  {
    const private_tmp tmp({});
    path = tmp.path();
    CHECK(fs::path(path).parent_path() == at.path());
    struct stat found {};
    REQUIRE(::stat(path.c_str(), &found) == 0);
    CHECK((found.st_mode & 07777) == 0700);
    fs::create_directories(path + "/a/b/c");
    fs::create_directory_symlink(outside.path(), path + "/a/link");
    write_whole_file(path + "/a/b/f", "x");
    fs::permissions(path + "/a/b", fs::perms::none);
    fs::permissions(path, fs::perms::none);
    const private_tmp other({});
    CHECK(tmp.stands());
    CHECK(other.path() != path);
  }
  CHECK(private_directories(at.path()).empty());
  CHECK(read_whole_file(outside / "f") == "out");
}

TEST_CASE("private tmp: a tree that is deeper than there are descriptors goes too") {
  const temp_dir at;
  const variable_is here("TMPDIR", at.path().string());
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{256, before.rlim_max};
  {
    const private_tmp tmp({});
    unique_fd deep(::open(tmp.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    for (int i = 0; i < 1000; ++i) {
      REQUIRE(::mkdirat(deep.get(), "d", 0700) == 0);
      deep.reset(::openat(deep.get(), "d", O_PATH | O_DIRECTORY | O_CLOEXEC));
    }
    REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  }
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK(private_directories(at.path()).empty());
}

TEST_CASE("private tmp: it does not lie where commands could put a link in its place") {
  const temp_dir at;
  fs::create_directory(at / "t");
  const variable_is here("TMPDIR", at / "t");
  const private_tmp elsewhere({{at.path().string()}, {}});
  CHECK(fs::path(elsewhere.path()).parent_path() == "/tmp");
  const private_tmp further({{at.path().string(), "/tmp"}, {}});
  CHECK(fs::path(further.path()).parent_path() == "/var/tmp");
  CHECK_THROWS_AS(private_tmp({{"/"}, {}}), error);
  const private_tmp hidden({{"/"}, {"/tmp", "/var/tmp"}});
  CHECK(hidden.path().starts_with("/tmp/"));
}

TEST_CASE("private tmp: one that was moved away is known, and what took its place is left alone") {
  const temp_dir at;
  const variable_is here("TMPDIR", at.path().string());
  const temp_dir outside;
  write_whole_file(outside / "f", "out");
  {
    const private_tmp tmp({});
    fs::rename(tmp.path(), at / "moved");
    fs::create_directory_symlink(outside.path(), tmp.path());
    CHECK_FALSE(tmp.stands());
  }
  CHECK(read_whole_file(outside / "f") == "out");
}

TEST_CASE("private tmp: what killed owners left goes with the next one, and what others have stays") {
  const temp_dir at;
  const variable_is here("TMPDIR", at.path().string());
  const temp_dir outside;
  write_whole_file(outside / "f", "out");
  fs::create_directories(at / "berth-tmp-000000/a/b");
  write_whole_file(at / "berth-tmp-000000/a/f", "left");
  fs::create_directory_symlink(outside.path(), at / "berth-tmp-000000/link");
  fs::create_directory_symlink(outside.path(), at / "berth-tmp-000001");
  write_whole_file(at / "berth-tmp-000002", "a file");
  fs::create_directory(at / "other");
  const private_tmp living({});
  const private_tmp next({});
  const auto found = private_directories(at.path());
  const std::set<std::string> left(found.begin(), found.end());
  CHECK(left == std::set<std::string>{living.path(), next.path(), at / "berth-tmp-000001", at / "berth-tmp-000002"});
  CHECK(fs::exists(at / "other"));
  CHECK(read_whole_file(outside / "f") == "out");
}

TEST_CASE("private tmp: one that a command closed to its owner, who was killed, goes too") {
  const temp_dir at;
  const variable_is here("TMPDIR", at.path().string());
  fs::create_directories(at / "berth-tmp-000000/a/b");
  fs::permissions(at / "berth-tmp-000000/a", fs::perms::none);
  fs::permissions(at / "berth-tmp-000000", fs::perms::none);
  const without_capabilities as_a_user;
  REQUIRE(as_a_user.holds());
  const private_tmp next({});
  CHECK(private_directories(at.path()) == std::vector<std::string>{next.path()});
}

TEST_CASE("private tmp: what a command moved into one, and could not have removed, stays") {
  if (::geteuid() != 0) return skip("only root has more rights than its commands");
  const temp_dir at;
  const variable_is here("TMPDIR", at.path().string());
  // As the root of a sandbox that holds the place: it may rename its own directories, and those in them not be entered.
  const auto fill = [](const std::string& in) {
    fs::create_directories(in + "/other");
    write_whole_file(in + "/other/f", "another's");
    write_whole_file(in + "/ours", "left");
    REQUIRE(::chown((in + "/other").c_str(), 65534, 65534) == 0);
    fs::permissions(in + "/other", fs::perms::owner_all);
  };
  const std::string abandoned = at / "berth-tmp-ZZZZZZ";
  fill(abandoned);
  std::string own;
  {
    const private_tmp next({});
    own = next.path();
    fill(own);
  }
  for (const std::string& each : {abandoned, own}) {
    CHECK(read_whole_file(each + "/other/f") == "another's");
    CHECK_FALSE(fs::exists(each + "/ours"));
  }
}

/// In a mount namespace of its own; false where it cannot be had.
bool with_mount(const std::string& on, const std::function<void()>& body) {
  bool mounted = false;
  std::thread apart([&] {
    mounted = ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
              ::mount("none", on.c_str(), "tmpfs", 0, nullptr) == 0;
    if (mounted) body();
  });
  apart.join();
  return mounted;
}

TEST_CASE("private tmp: what is mounted below one stays") {
  const temp_dir at;
  const variable_is here("TMPDIR", at.path().string());
  const std::string mounted = at / "berth-tmp-ZZZZZZ/d/m";
  fs::create_directories(mounted);
  write_whole_file(at / "berth-tmp-ZZZZZZ/d/f", "left");
  bool kept = false, cleaned = false;
  const bool tried = with_mount(mounted, [&] {
    write_whole_file(mounted + "/f", "kept");
    const private_tmp next({});
    kept = fs::exists(mounted + "/f");
    cleaned = !fs::exists(at / "berth-tmp-ZZZZZZ/d/f");
  });
  if (!tried) return skip("no mount namespaces without root");
  CHECK(kept);
  CHECK(cleaned);
}

ASYNC_TEST("private tmp: a command that closes it does not keep the next one from its project below it") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  REQUIRE(at.path().string().starts_with("/tmp/"));
  process_context_options options;
  options.cwd = at.path().string();
  options.isolation.emplace();
  context place = make_process_context(io, options);
  const handle where = co_await place.spawn();
  const exec_result closing = co_await place.exec(where, command("chmod 1000 /tmp"));
  CHECK(closing.ok());
  const exec_result next = co_await place.exec(where, command("stat -c %a /tmp"));
  CHECK(next.std_out == "1700\n");
  co_await place.destroy(where);
}

ASYNC_TEST("private tmp: that of an owner that was killed goes when the next handle is made") {
  if (!has_bwrap()) co_return;
  const temp_dir at;
  const temp_dir cwd;
  const variable_is here("TMPDIR", at.path().string());
  run_and_kill_owner(cwd.path().string());
  CHECK(private_directories(at.path()).size() == 1);
  process_context_options options;
  options.cwd = cwd.path().string();
  options.isolation.emplace();
  context place = make_process_context(io, options);
  const auto cleaned = [&] { return private_directories(at.path()).size() == 1; };
  // Its commands may live for some milliseconds more, and make files there.
  for (int tries = 0; tries < 3; ++tries) {
    const handle where = co_await place.spawn();
    const bool is_clean = cleaned();
    co_await place.destroy(where);
    if (is_clean) break;
  }
  CHECK(private_directories(at.path()).empty());
}

}  // namespace
}  // namespace berth::test
