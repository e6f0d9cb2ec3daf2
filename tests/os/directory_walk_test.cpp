#include "os/directory_walk.hpp"

#include "os/file_tree.hpp"
#include "os/path_scope.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <string>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

unique_fd open_at(int directory, const char* name) {
  return unique_fd(::openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

/// `d` in `d` in `d`, and beside each of them two files.
void make_deep(const fs::path& top, int levels) {
  unique_fd at = open_at(AT_FDCWD, top.c_str());
  for (int i = 0; i < levels; ++i) {
    for (const char* name : {"a", "z"}) unique_fd(::openat(at.get(), name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    REQUIRE(::mkdirat(at.get(), "d", 0700) == 0);
    at = open_at(at.get(), "d");
  }
}

std::ptrdiff_t open_descriptors() { return std::distance(fs::directory_iterator("/proc/self/fd"), {}); }

}  // namespace

TEST_CASE("directory walk: a tree deeper than there are descriptors: each entry once, and removed, with few of them") {
  const temp_dir top;
  const std::string deep = top / "deep";
  constexpr int levels = 1500;
  fs::create_directory(deep);
  make_deep(deep, levels);
  const auto before = open_descriptors();
  std::ptrdiff_t most = 0;
  std::map<std::string, int> names;
  std::size_t longest = 0;
  {
    directory_walk walk(open_at(AT_FDCWD, deep.c_str()));
    while (const walked_entry* const entry = walk.next()) {
      ++names[entry->name];
      longest = std::max(longest, entry->path.size());
      if (S_ISDIR(entry->status.st_mode)) walk.enter();
      if (names["d"] % 100 == 0) most = std::max(most, open_descriptors());
    }
  }
  CHECK(names == std::map<std::string, int>{{"a", levels}, {"d", levels}, {"z", levels}});
  CHECK(longest == 2 * levels - 1);
  CHECK(most > before);
  CHECK(most < before + 50);
  {
    tree_removal removal(path_scope(), deep, true);
    while (removal.step()) continue;
  }
  CHECK_FALSE(fs::exists(deep));
  CHECK(open_descriptors() == before);
}

TEST_CASE("directory walk: a directory that is moved while the walk is far below it does not lead it elsewhere") {
  const temp_dir top;
  fs::create_directory(top / "in");
  fs::create_directory(top / "out");
  make_deep(top / "in", 100);
  write_whole_file(top / "out/secret", "");
  fs::path inner = top / "in";
  for (int i = 0; i < 20; ++i) inner /= "d";
  directory_walk walk(open_at(AT_FDCWD, (top / "in").c_str()));
  bool is_moved = false;
  bool sees_secret = false;
  std::string failure;
  try {
    while (const walked_entry* const entry = walk.next()) {
      sees_secret = sees_secret || entry->name == "secret";
      if (S_ISDIR(entry->status.st_mode)) walk.enter();
      if (is_moved || walk.depth() < 90) continue;
      fs::rename(inner, top / "out/d");
      is_moved = true;
    }
  } catch (const error& moved) {
    failure = moved.what();
    CHECK(moved.code() == errc::conflict);
  }
  CHECK(is_moved);
  CHECK_FALSE(sees_secret);
  CHECK(failure.find("was moved while the tree was read") != std::string::npos);
}
