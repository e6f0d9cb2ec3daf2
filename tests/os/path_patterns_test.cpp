#include "os/path_patterns.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace berth;

namespace {

bool excludes(const char* pattern, const char* path, bool is_directory = false) {
  return path_patterns(std::vector<std::string>(1, pattern)).match(path, is_directory);
}

}  // namespace

TEST_CASE("patterns: a name matches at any depth, a path from the top") {
  CHECK(excludes("*.pyc", "a.pyc"));
  CHECK(excludes("*.pyc", "x/y/a.pyc"));
  CHECK_FALSE(excludes("*.pyc", "a.py"));
  CHECK(excludes("node_modules", "a/node_modules"));
  CHECK(excludes("/build", "build"));
  CHECK_FALSE(excludes("/build", "a/build"));
  CHECK(excludes("a/b", "a/b"));
  CHECK_FALSE(excludes("a/b", "x/a/b"));
}

TEST_CASE("patterns: one star stays in a component, two cross them") {
  CHECK(excludes("a/*", "a/b"));
  CHECK_FALSE(excludes("a/*/c", "a/b/b/c"));
  CHECK(excludes("a/**/c", "a/c"));
  CHECK(excludes("a/**/c", "a/b/b/c"));
  CHECK_FALSE(excludes("a/**/c", "a/bc"));
  CHECK(excludes("**/c", "c"));
  CHECK(excludes("**/c", "a/b/c"));
  CHECK(excludes("a/**", "a/b/c"));
  CHECK_FALSE(excludes("a/**", "a"));
  CHECK(excludes("a?c", "abc"));
  CHECK_FALSE(excludes("/a?c", "a/c"));
}

TEST_CASE("patterns: directories only, sets, and escapes") {
  CHECK(excludes("d/", "x/d", true));
  CHECK_FALSE(excludes("d/", "d", false));
  CHECK(excludes("[a-c]x", "bx"));
  CHECK_FALSE(excludes("[!a-c]x", "bx"));
  CHECK(excludes("[]x]", "]"));
  CHECK(excludes("[x", "[x"));
  CHECK(excludes("\\*", "*"));
  CHECK_FALSE(excludes("\\*", "a"));
  for (const char* wrong : {"", "/", "!a"}) CHECK_THROWS_AS(excludes(wrong, "a"), error);
}

TEST_CASE("patterns: many stars take no longer than the product of lengths") {
  std::string pattern, text(3000, 'a');
  for (int i = 0; i < 100; ++i) pattern += "*a";
  CHECK_FALSE(excludes((pattern + "b").c_str(), text.c_str()));
}
