#include "os/path_scope.hpp"

#include "os/file_tree.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

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

std::error_code failure(const path_scope& scope, const std::string& path) {
  try {
    read(scope, path);
  } catch (const error& caught) {
    return caught.code();
  }
  return {};
}

int exchange(const std::string& one, const std::string& other) {
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE));
}

constexpr path_walking both[] = {path_walking::by_kernel, path_walking::by_component};

}  // namespace

TEST_CASE("path scope: paths and links that end below a root are walked, either way") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(std::vector<std::string>(1, made.root()), how);
    CHECK(read(scope, made.root() + "/d/f") == "in");
    CHECK(read(scope, made.root() + "/d/../d/./f") == "in");
    CHECK(read(scope, made.root() + "/link") == "in");
    CHECK(read(scope, made.root() + "/abs") == "in");
    CHECK(read(scope, made.at / "outside/in/d/f") == "in");
    CHECK(read(scope, made.root() + "/../root/d/f") == "in");
  }
}

TEST_CASE("path scope: nothing outside of the roots is reached, either way") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(std::vector<std::string>(1, made.root()), how);
    for (const char* path : {"/up", "/absout", "/../outside/f", "/d/../../outside/f", "/../root/up"}) {
      CHECK_MESSAGE(failure(scope, made.root() + path) == errc::permission_denied, path);
    }
    CHECK(failure(scope, "/etc/passwd") == errc::permission_denied);
    CHECK(failure(scope, made.root() + "2") == errc::permission_denied);
    CHECK_THROWS_AS(scope.parent_of(made.at / "outside/new"), error);
    CHECK_THROWS_AS(scope.make_directories(made.at / "outside/d"), error);
    CHECK_FALSE(fs::exists(made.at / "outside/d"));
  }
}

TEST_CASE("path scope: what is wrong with a path is said alike, either way") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(std::vector<std::string>(1, made.root()), how);
    CHECK(failure(scope, made.root() + "/loop") == errc::invalid_argument);
    CHECK(failure(scope, made.root() + "/dangling") == errc::not_found);
    CHECK(failure(scope, made.root() + "/none/f") == errc::not_found);
    CHECK(failure(scope, made.root() + "/d/f/") == errc::not_a_directory);
    CHECK(failure(scope, made.root() + "/d/f/x") == errc::not_a_directory);
    const path_scope all(std::vector<std::string>(1, "/"), how);
    CHECK(failure(all, "/proc/self/fd/0") == errc::invalid_argument);
    CHECK(failure(all, "/proc/self/status") == std::error_code());
  }
}

TEST_CASE("path scope: the target behind a dangling link is where the link says") {
  const tree made;
  for (const auto how : both) {
    const path_scope scope(std::vector<std::string>(1, made.root()), how);
    CHECK(scope.target_of(made.root() + "/dangling").name == "none");
    CHECK(scope.parent_of(made.root() + "/dangling").name == "dangling");
    CHECK(scope.target_of(made.root() + "/abs").name == "f");
    CHECK_THROWS_AS(scope.target_of(made.root() + "/up"), error);
    CHECK_THROWS_AS(scope.parent_of(made.root()), error);
    CHECK(stat_file(scope, made.root()).is_directory());
    scope.make_directories(made.root() + "/x/y/../z");
    CHECK(fs::is_directory(made.at / "root/x/z"));
    fs::remove_all(made.at / "root/x");
  }
}

TEST_CASE("path scope: a root stays the directory that it was") {
  const tree made;
  const path_scope by_component(std::vector<std::string>(1, made.root()), path_walking::by_component);
  const path_scope by_kernel(std::vector<std::string>(1, made.root()));
  fs::rename(made.root(), made.at / "moved");
  fs::create_symlink("outside", made.root());
  CHECK(read(by_kernel, made.root() + "/d/f") == "in");
  CHECK_FALSE(failure(by_component, made.root() + "/f") == std::error_code());
}

TEST_CASE("path scope: swapping a directory for a link in mid-walk leads nowhere, either way") {
  const tree made;
  fs::create_directories(made.at / "root/swap");
  write_whole_file(made.at / "root/swap/f", "in");
  fs::create_symlink("../outside", made.at / "root/evil");
  for (const auto how : both) {
    const path_scope scope(std::vector<std::string>(1, made.root()), how);
    std::atomic<bool> stop = false;
    std::thread swapper([&] {
      while (!stop) exchange(made.root() + "/swap", made.root() + "/evil");
    });
    int inside = 0, refused = 0, outside = 0;
    const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
    while (std::chrono::steady_clock::now() < until) {
      try {
        const auto bytes = read(scope, made.root() + "/swap/f");
        (bytes == "in" ? inside : outside) += 1;
      } catch (const error&) {
        ++refused;
      }
    }
    stop = true;
    swapper.join();
    CHECK(outside == 0);
    CHECK(inside > 0);
    CHECK(refused > 0);
  }
}
