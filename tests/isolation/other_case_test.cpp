#include "isolation/other_case.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <vector>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

/// What a file system without cases would answer: no such one can be made here.
class one_case {
 public:
  explicit one_case(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  name_lookup lookup() const {
    return {[this](const std::string& path) { return has(path, true); },
            [this](const std::string& directory, const std::string& name) { return has(directory + name, false); }};
  }

 private:
  static std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
  }
  bool has(const std::string& path, bool in_any_case) const {
    return std::any_of(paths_.begin(), paths_.end(), [&](const std::string& each) {
      return in_any_case ? lower(each) == lower(path) : each == path;
    });
  }

  std::vector<std::string> paths_;
};

}  // namespace

TEST_CASE("other case: what is found by a name that its directory does not have") {
  const one_case here({"/w", "/w/.git", "/w/.git/config", "/w/123"});
  CHECK(find_other_case("/w/.git/config", "/w", here.lookup()) == "/w/.GIT");
  CHECK(find_other_case("/w/.git/hooks", "/w", here.lookup()) == "/w/.GIT");
  CHECK(find_other_case("/w/.git/config", "/w/.git", here.lookup()) == "/w/.git/CONFIG");
  CHECK(find_other_case("/w/.git/hooks", "/w/.git", here.lookup()).empty());  // not there yet
  CHECK(find_other_case("/w/none/x", "/w", here.lookup()).empty());
  CHECK(find_other_case("/w/123", "/w", here.lookup()).empty());  // nothing to turn over
  CHECK(find_other_case("/w", "/w", here.lookup()).empty());
  CHECK(find_other_case("/w/.git", "/", here.lookup()) == "/W");
}

TEST_CASE("other case: two names, hard links and links on this file system are what they are") {
  const temp_dir at;
  const std::string top = at.path().string();
  fs::create_directories(at / ".git");
  write_whole_file(at / ".git/config", "");
  CHECK(find_other_case(top + "/.git/config", top, lookup_here()).empty());
  fs::create_directory_symlink(".git", at / ".GIT");
  fs::create_hard_link(at / ".git/config", at / ".git/CONFIG");
  CHECK(find_other_case(top + "/.git/config", top, lookup_here()).empty());
}
