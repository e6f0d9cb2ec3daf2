#include "os/path_scope.hpp"

#include "os/file_replacement.hpp"
#include "os/file_tree.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

/// root/{d/f, link->d/f, up->../outside/f, abs->ROOT/d/f, absout->OUTSIDE/f, loop, dangling->d/none}, outside/{f, in->../root}
struct tree {
  tree() {
    fs::create_directories(at / "root/d");
    fs::create_directories(at / "outside");
    write_whole_file(at / "root/d/f", "in");
    write_whole_file(at / "outside/f", "out");
    fs::create_symlink("d/f", at / "root/link");
    fs::create_symlink("../outside/f", at / "root/up");
    fs::create_symlink(root() + "/d/f", at / "root/abs");
    fs::create_symlink(at / "outside/f", at / "root/absout");
    fs::create_symlink("loop", at / "root/loop");
    fs::create_symlink("d/none", at / "root/dangling");
    fs::create_symlink("../root", at / "outside/in");
  }
  std::string root() const { return at / "root"; }
  temp_dir at;
};

std::string read(const path_scope& scope, const std::string& path) {
  char bytes[16];
  const unique_fd fd = scope.open(path, O_RDONLY);
  const auto got = ::read(fd.get(), bytes, sizeof bytes);
  return {bytes, static_cast<std::size_t>(got > 0 ? got : 0)};
}

template <class Function>
std::error_code failure_of(Function function) {
  try {
    function();
  } catch (const error& caught) {
    return caught.code();
  }
  return {};
}

std::error_code failure(const path_scope& scope, const std::string& path) {
  return failure_of([&] { read(scope, path); });
}

/// What a change of a name comes to, all ways of change being alike.
std::error_code refusal(const path_scope& scope, const std::string& path) {
  const auto moved = failure_of([&] { (void)scope.to_move(path); });
  const auto written = failure_of([&] { (void)scope.to_write(path); });
  CHECK_MESSAGE(moved == written, path);
  return written;
}

path_rules writable(const std::string& root) {
  path_rules rules;
  rules.places.push_back({root, root, true});
  rules.advice = "ask for more";
  return rules;
}

void write(const path_scope& scope, const std::string& path, std::string_view bytes) {
  // The scope of a test outlives its writes.
  const std::shared_ptr<const path_scope> unowned(std::shared_ptr<const path_scope>(), &scope);
  file_replacement writing([unowned] { return unowned; }, path, write_options().make_parents(false));
  while (!writing.prepare()) {
  }
  writing.write(bytes);
  writing.commit();
}

int exchange(const std::string& one, const std::string& other) {
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE));
}

constexpr path_walking both[] = {path_walking::by_kernel, path_walking::by_component};

}  // namespace

TEST_CASE("path scope: whatever the rules, everything is read, either way") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(writable(made.root()), how);
    CHECK(read(scope, made.root() + "/d/f") == "in");
    CHECK(read(scope, made.root() + "/d/../d/./f") == "in");
    CHECK(read(scope, made.root() + "/link") == "in");
    CHECK(read(scope, made.root() + "/abs") == "in");
    CHECK(read(scope, made.at / "outside/in/d/f") == "in");
    CHECK(read(scope, made.root() + "/../root/d/f") == "in");
    for (const char* path : {"/up", "/absout", "/../outside/f", "/d/../../outside/f", "/../root/up"}) {
      CHECK_MESSAGE(read(scope, made.root() + path) == "out", path);
    }
  }
}

TEST_CASE("path scope: nothing outside of what is writable is changed, either way") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(writable(made.root()), how);
    for (const char* path : {"/../outside/f", "/d/../../outside/f", "/../new", "/../root2"}) {
      CHECK_MESSAGE(refusal(scope, made.root() + path) == errc::permission_denied, path);
    }
    for (const char* path : {"/up", "/absout", "/../root/up"}) {
      CHECK_MESSAGE(failure_of([&] { (void)scope.to_write(made.root() + path); }) == errc::permission_denied, path);
      CHECK_NOTHROW((void)scope.to_move(made.root() + path));  // the link itself
    }
    CHECK(refusal(scope, "/etc/passwd") == errc::permission_denied);
    CHECK(refusal(scope, made.root() + "2") == errc::permission_denied);
    CHECK(refusal(scope, made.at / "outside/new") == errc::permission_denied);
    CHECK(failure_of([&] { scope.make_directories(made.at / "outside/d"); }) == errc::permission_denied);
    CHECK_FALSE(fs::exists(made.at / "outside/d"));
    CHECK_NOTHROW(scope.make_directories(made.at / "outside"));  // it is there
    CHECK(failure_of([&] { (void)scope.to_fill(made.at / "outside"); }) == errc::permission_denied);
    CHECK(failure_of([&] { (void)scope.to_fill("/proc/self"); }) == errc::permission_denied);
  }
}

TEST_CASE("path scope: who is refused hears what may be written") {
  const tree made;
  const path_scope scope(writable(made.root()));
  try {
    (void)scope.to_write("/etc/passwd");
    FAIL("no error");
  } catch (const error& refused) {
    CHECK(refused.message().find("ask for more") != std::string::npos);
  }
}

TEST_CASE("path scope: what is wrong with a path is said alike, either way") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(writable(made.root()), how);
    CHECK(failure(scope, made.root() + "/loop") == errc::invalid_argument);
    CHECK(failure(scope, made.root() + "/dangling") == errc::not_found);
    CHECK(failure(scope, made.root() + "/none/f") == errc::not_found);
    CHECK(failure(scope, made.root() + "/d/f/") == errc::not_a_directory);
    CHECK(failure(scope, made.root() + "/d/f/x") == errc::not_a_directory);
    CHECK(failure(scope, "/proc/self/fd/0") == errc::invalid_argument);
    CHECK(failure(scope, "/proc/self/root" + made.root() + "/d/f") == errc::invalid_argument);
    CHECK(failure(scope, "/proc/self/cwd/x") == errc::invalid_argument);
    CHECK(failure(scope, "/proc/self/status") == std::error_code());
    const unique_fd held(::open(made.root().c_str(), O_PATH | O_CLOEXEC));
    const std::string through = "/proc/self/fd/" + std::to_string(held.get());
    CHECK(refusal(scope, through + "/new") == errc::invalid_argument);
    CHECK(failure_of([&] { (void)scope.to_move(through); }) == errc::permission_denied);
    CHECK(refusal(scope, "/proc/self/root" + made.root() + "/d/f") == errc::invalid_argument);
  }
}

TEST_CASE("path scope: the target behind a dangling link is where the link says") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(writable(made.root()), how);
    CHECK(scope.to_write(made.root() + "/dangling").name == "none");
    CHECK(scope.to_move(made.root() + "/dangling").name == "dangling");
    CHECK(scope.to_write(made.root() + "/abs").name == "f");
    CHECK(refusal(scope, made.root() + "/..") == errc::permission_denied);
    CHECK(stat_file(scope, made.root()).is_directory());
    scope.make_directories(made.root() + "/x/y/../z");
    CHECK(fs::is_directory(made.at / "root/x/z"));
    fs::remove_all(made.at / "root/x");
  }
}

TEST_CASE("path scope: a root neither goes away nor is replaced") {
  const tree made;
  fs::create_directories(made.at / "root/d/inner");
  path_rules rules = writable(made.root());
  rules.places.push_back({made.root() + "/d/inner", made.at / "outside", true});
  const path_scope scope(std::move(rules));
  for (const char* path : {"", "/.", "/d/..", "/d/inner", "/d"}) {
    const auto code = failure_of([&] { (void)scope.to_move(made.root() + path); });
    CHECK_MESSAGE(code == errc::permission_denied, path);
  }
  CHECK_NOTHROW((void)scope.to_move(made.root() + "/d/f"));
  CHECK_THROWS_AS(rename_file(scope, made.root() + "/d", made.root() + "/e"), error);
  CHECK(failure_of([&] { (void)scope.to_write(made.root()); }) == errc::is_a_directory);
}

TEST_CASE("path scope: a root stays the directory that it was") {
  const tree made;
  const path_scope by_component(writable(made.root()), path_walking::by_component);
  const path_scope by_kernel(writable(made.root()));
  fs::rename(made.root(), made.at / "moved");
  fs::create_symlink("outside", made.root());
  for (const path_scope* each : {&by_kernel, &by_component}) {
    CHECK(read(*each, made.root() + "/d/f") == "in");
    write(*each, made.root() + "/new", "written");
    CHECK(read_whole_file(made.at / "moved/new") == "written");
    CHECK_FALSE(fs::exists(made.at / "outside/new"));
  }
  CHECK_THROWS_AS(path_scope(writable(made.root())), error);  // a link is no root
  CHECK_THROWS_AS(path_scope(writable(made.root() + "/d")), error);
}

TEST_CASE("path scope: what is seen elsewhere than it lies is read, listed and changed there, by any spelling") {
  const tree made;
  for (const char* each : {"lies/sub", "shown", "work", "work/deep"}) fs::create_directories(made.at / each);
  write_whole_file(made.at / "lies/f", "own");
  write_whole_file(made.at / "shown/f", "host");
  write_whole_file(made.at / "work/f", "work");
  fs::create_symlink(made.at / "shown/f", made.at / "root/to_shown");
  fs::create_symlink("work/f", made.at / "lies/to_work");
  path_rules rules;
  rules.places = {{made.at / "shown", made.at / "lies", true}, {made.at / "shown/work", made.at / "work", true}};
  for (const auto how : both) {
    const auto scope = std::make_shared<const path_scope>(rules, how);
    CHECK(read(*scope, made.at / "shown/f") == "own");
    CHECK(read(*scope, made.at / "shown/../shown/sub/../f") == "own");
    CHECK(read(*scope, made.root() + "/to_shown") == "own");
    CHECK(read(*scope, made.root() + "/../shown/f") == "own");
    CHECK(read(*scope, made.at / "shown/to_work") == "work");
    CHECK(read(*scope, made.at / "lies/f") == "own");
    CHECK(failure_of([&] { write(*scope, made.at / "lies/f", "x"); }) == errc::permission_denied);
    write(*scope, made.at / "shown/new", "new");
    CHECK(read_whole_file(made.at / "lies/new") == "new");
    write(*scope, made.at / "shown/work/new", "new");
    CHECK(read_whole_file(made.at / "work/new") == "new");
    CHECK(stat_file(*scope, made.at / "shown/work/f").size() == 4);
    tree_listing listing(scope, made.at.path().string(), 3);
    while (listing.step()) {
    }
    std::vector<std::string> below;
    for (const file_info& each : listing.take()) {
      if (each.path().starts_with("shown")) below.push_back(each.path());
    }
    std::sort(below.begin(), below.end());
    // The place in the place has no directory to lie on, which a sandbox would make.
    CHECK(below == std::vector<std::string>{"shown", "shown/f", "shown/new", "shown/sub", "shown/to_work"});
    fs::remove(made.at / "lies/new");
  }
}

TEST_CASE("path scope: what is protected is not changed, by any name, and stays where it is") {
  const tree made;
  fs::create_directories(made.at / "root/.git/hooks/deep");
  write_whole_file(made.at / "root/.git/config", "old");
  fs::create_symlink(".git", made.at / "root/git");
  fs::create_symlink("../.git/config", made.at / "root/d/conf");
  fs::create_hard_link(made.at / "root/.git/config", made.at / "root/hard");
  path_rules rules = writable(made.root());
  rules.protected_paths = {made.root() + "/.git/config", made.root() + "/.git/hooks"};
  for (const auto how : both) {
    const path_scope scope(rules, how);
    for (const char* path : {".git/config", "git/config", "git/../.git/config", ".git/hooks/pre-commit", "hard",
                             ".git/hooks/deep/x", "git/hooks/deep"}) {
      CHECK_MESSAGE(refusal(scope, made.root() + "/" + path) == errc::permission_denied, path);
    }
    CHECK(failure_of([&] { write(scope, made.root() + "/d/conf", "x"); }) == errc::permission_denied);
    CHECK(failure_of([&] { (void)scope.to_move(made.root() + "/.git"); }) == errc::permission_denied);
    CHECK(failure_of([&] { tree_removal(scope, made.root() + "/.git", true); }) == errc::permission_denied);
    CHECK(failure_of([&] { scope.make_directories(made.root() + "/git/hooks/new"); }) == errc::permission_denied);
    CHECK(failure_of([&] { (void)scope.to_fill(made.root() + "/git/hooks"); }) == errc::permission_denied);
    const auto filled = scope.to_fill(made.root() + "/d/..");
    CHECK(failure_of([&] { scope.check_entry(filled, ".git/hooks/x"); }) == errc::permission_denied);
    CHECK(failure_of([&] { scope.check_entry(filled, ".git/config"); }) == errc::permission_denied);
    CHECK_NOTHROW(scope.check_entry(filled, ".git/description"));
    write(scope, made.root() + "/git/description", "mine");
    CHECK(read_whole_file(made.at / "root/.git/description") == "mine");
    CHECK(read(scope, made.root() + "/d/conf") == "old");
  }
}

TEST_CASE("path scope: a root that is a file is written where it lies, and nothing beside it") {
  const tree made;
  const std::string file = made.at / "outside/f";
  struct stat before {
  }, after{};
  REQUIRE(::stat(file.c_str(), &before) == 0);
  for (const auto how : both) {
    const path_scope scope(writable(file), how);
    write(scope, file, "a longer text");
    CHECK(read_whole_file(file) == "a longer text");
    write(scope, made.root() + "/up", "short");
    CHECK(read_whole_file(file) == "short");
    REQUIRE(::stat(file.c_str(), &after) == 0);
    CHECK(before.st_ino == after.st_ino);
    CHECK(read(scope, file) == "short");
    CHECK(failure_of([&] { write(scope, made.at / "outside/g", "x"); }) == errc::permission_denied);
    CHECK(failure_of([&] { (void)scope.to_move(file); }) == errc::permission_denied);
    CHECK(std::distance(fs::directory_iterator(made.at / "outside"), fs::directory_iterator()) == 2);
  }
}

TEST_CASE("path scope: writing through a directory that is swapped for a link leads nowhere else, either way") {
  const tree made;
  fs::create_directories(made.at / "root/swap");
  fs::create_symlink("../outside", made.at / "root/evil");
  for (const auto how : both) {
    const path_scope scope(writable(made.root()), how);
    std::atomic<bool> stop = false;
    std::thread swapper([&] {
      while (!stop) exchange(made.root() + "/swap", made.root() + "/evil");
    });
    int done = 0, refused = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(700);
    while (std::chrono::steady_clock::now() < until) {
      const auto write_one = failure_of([&] { write(scope, made.root() + "/swap/new", "x"); });
      const auto make_one = failure_of([&] { scope.make_directories(made.root() + "/swap/made"); });
      const auto remove_one = failure_of([&] { tree_removal(scope, made.root() + "/swap/f", false).step(); });
      for (const auto& code : {write_one, make_one, remove_one}) (code ? refused : done) += 1;
    }
    stop = true;
    swapper.join();
    CHECK_FALSE(fs::exists(made.at / "outside/new"));
    CHECK_FALSE(fs::exists(made.at / "outside/made"));
    CHECK(read_whole_file(made.at / "outside/f") == "out");
    CHECK(done > 0);
    CHECK(refused > 0);
  }
}
