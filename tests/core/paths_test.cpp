#include "core/shown_path.hpp"

#include <berth/error.hpp>
#include <berth/files.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace berth;

namespace {

/// A callback that owns something, and one that does not.
auto owning_callback() {
  return [text = std::string("x")](const transfer_progress&) { (void)text; };
}
auto light_callback() {
  return [number = 1](const transfer_progress&) { (void)number; };
}

}  // namespace

TEST_CASE("shown path: one line, valid UTF-8, nothing that a terminal obeys") {
  CHECK(shown_path("/a b/\xc3\xa9") == "'/a b/\xc3\xa9'");
  CHECK(shown_path("a\nb\t\x1b[0m\x7f") == "'a\\nb\\t\\x1b[0m\\x7f'");
  CHECK(shown_path("a\xff'\\") == "'a\\xff\\'\\\\'");
  CHECK(shown_path("\xe2\x80\xae"
                   "txt.exe") == "'\\xe2\\x80\\xaetxt.exe'");
  CHECK(shown_path("\xc2\x85") == "'\\xc2\\x85'");
  CHECK(shown_path(std::string(5000, 'a')).size() < 500);
}

TEST_CASE("content hash: the same in one piece or many, with its name before it") {
  CHECK(content_hash("") == "xxh3:99aa06d3014798d86001c324468d497f");
  content_hasher pieces;
  pieces.update("hel");
  pieces.update("lo");
  CHECK(pieces.finish() == content_hash("hello"));
  CHECK(content_hash("hello") != content_hash("hellp"));
}

TEST_CASE("options: an owning callback must have a name") {
  CHECK_FALSE(named_callback<decltype(owning_callback())>);
  CHECK(named_callback<decltype(owning_callback())&>);
  CHECK(named_callback<decltype(light_callback())>);
}

TEST_CASE("options: what excludes one another or makes no sense is refused") {
  CHECK_THROWS_AS(write_options().expect_absent().expect_hash(content_hash("")).validate(), error);
  CHECK_THROWS_AS(write_options().expect_hash("d41d8cd9").validate(), error);
  CHECK_THROWS_AS(write_options().mode(01777).validate(), error);
  CHECK_NOTHROW(write_options().mode(0777).validate());
}

TEST_CASE("paths: what a terminal can show as it is, and whole quoted paths") {
  for (const char* path : {"", "a b", "it's", "back\\slash", "\xc3\xa9"}) CHECK(is_showable(path));
  for (const char* path : {"a\nb", "a\xff", "\x1b[0m", "\x7f", "\xc2\x9b", "\xe2\x80\xae"})
    CHECK_FALSE(is_showable(path));
  CHECK(quoted_path(std::string(1000, 'x') + "\n") == "'" + std::string(1000, 'x') + "\\n'");
}
