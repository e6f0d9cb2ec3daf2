#include "context/output_search.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

using namespace berth;

namespace {

/// Feeds the pieces; the text found and its offset, or nothing.
std::optional<output_search::found> find_in(const output_pattern& what, const std::vector<std::string>& pieces) {
  output_search search(what);
  std::uint64_t offset = 0;
  for (const std::string& piece : pieces) {
    std::string_view bytes = piece;
    while (!bytes.empty() && !search.match()) {
      const std::size_t taken = search.take(bytes, offset);
      bytes.remove_prefix(taken);
      offset += taken;
    }
  }
  search.look_at_rest();
  return search.match();
}

void check_found(const std::optional<output_search::found>& seen, std::uint64_t offset, const std::string& text) {
  REQUIRE(seen);
  CHECK(seen->offset == offset);
  CHECK(seen->text == text);
}

}  // namespace

TEST_CASE("output_search: text is found wherever the pieces are cut") {
  const std::string all = "aab aabaaab ready\n";
  const std::string text = "aabaaab re";
  for (std::size_t first = 0; first <= all.size(); ++first) {
    for (std::size_t second = first; second <= all.size(); ++second) {
      check_found(find_in(text, {all.substr(0, first), all.substr(first, second - first), all.substr(second)}), 4,
                  text);
    }
  }
  std::vector<std::string> bytes;
  for (const char each : all) bytes.emplace_back(1, each);
  check_found(find_in(text, bytes), 4, text);
  CHECK_FALSE(find_in("aabaab", bytes));
}

TEST_CASE("output_search: text may span lines and hold NULs; the empty one is there from the start") {
  check_found(find_in("b\nc", {"a\nb", "\nc\n"}), 2, "b\nc");
  check_found(find_in(std::string("\0x", 2), {std::string("ab\0", 3), "x"}), 2, std::string("\0x", 2));
  check_found(find_in("", {}), 0, "");
}

TEST_CASE("output_search: no match spans a gap") {
  output_search text(output_pattern("abcd"));
  CHECK(text.take("ab", 0) == 2);
  CHECK(text.take("cd abcd", 10) == 7);
  check_found(text.match(), 13, "abcd");
  output_search line(output_pattern::regex("a.*d"));
  CHECK(line.take("ab", 0) == 2);
  CHECK(line.take("cd\n", 10) == 3);
  CHECK_FALSE(line.match());
}

TEST_CASE("output_search: a regular expression sees whole lines, however they are cut") {
  const auto port = output_pattern::regex("port ([0-9]+)$");
  check_found(find_in(port, {"on po", "rt 80", "80\nmore"}), 3, "port 8080");
  check_found(find_in(port, {"port 8080 x\nport 1\r", "\n"}), 12, "port 1");
  check_found(find_in(port, {"x\nport 12"}), 2, "port 12");
  CHECK_FALSE(find_in(output_pattern::regex("a.*b"), {"a\nb\n"}));
  CHECK_FALSE(find_in(output_pattern::regex("^b"), {"ab\n"}));
  check_found(find_in(output_pattern::regex("^$"), {"a\n", "\nb\n"}), 2, "");
}

TEST_CASE("output_search: of several matches the one that ends first, from its beginning and in its whole length") {
  check_found(find_in(output_pattern::regex("[0-9]+ ready"), {"at 8080 ready, 9 ready\n"}), 3, "8080 ready");
  check_found(find_in(output_pattern::regex("[0-9]+"), {"at 8080 and 9\n"}), 3, "8080");
  check_found(find_in(output_pattern::regex("b|abc"), {"xabcx\n"}), 2, "b");
  check_found(find_in(output_pattern::regex("\\bfoo\\b"), {"foobar foo\n"}), 7, "foo");
}

TEST_CASE("output_search: a look at an unfinished line spoils nothing") {
  output_search search(output_pattern::regex("ready$"));
  std::uint64_t offset = 0;
  for (const char* piece : {"al", "rea", "dy or not\n", "read", "y"}) {
    CHECK_FALSE(search.match());
    offset += search.take(piece, offset);
    CHECK(search.rest() == (std::string(piece).back() == '\n' ? 0 : search.rest()));
    search.look_at_rest();
    CHECK(search.rest() == 0);
  }
  check_found(search.match(), offset - 5, "ready");
}

TEST_CASE("output_search: of a long line the beginning is looked at") {
  const std::string most(output_pattern::line_limit - 3, 'x');
  check_found(find_in(output_pattern::regex("abc"), {most + "abc" + most, "\n"}), most.size(), "abc");
  CHECK_FALSE(find_in(output_pattern::regex("bcd"), {most + "abcd\n"}));
  check_found(find_in(output_pattern::regex("bcd"), {most + "abcd\nbcd\n"}), most.size() + 5, "bcd");
}

TEST_CASE("output_search: expressions that are hard for other matchers neither overflow the stack nor take for ever") {
  const std::string line(output_pattern::line_limit, 'a');
  for (const char* each : {".*x", "(a|b)*c", "(a+)+b", "a[^b]*c", "(.*)(.*)(.*)x"}) {
    CHECK_FALSE(find_in(output_pattern::regex(each), {line + "\n"}));
  }
  CHECK(find_in(output_pattern::regex("(a|b)*$"), {line + "\n"}));
}

TEST_CASE(
    "output_search: an expression that does not compile, and one with more than lines take, is an invalid argument") {
  for (const char* each :
       {"(", "[a", "*", "a)(b", "a{2", "(a)\\1", "((a{100}){100}){100}", "a{0,20000}b", "a(?=.*x)", "(?!a)b"}) {
    CAPTURE(each);
    try {
      output_search search(output_pattern::regex(each));
      FAIL_CHECK("it compiled");
    } catch (const error& caught) {
      CHECK(caught.code() == errc::invalid_argument);
    }
  }
  const std::string deep = std::string(50000, '(') + std::string(50000, ')');
  CHECK_THROWS_AS(output_search(output_pattern::regex(deep)), error);
  check_found(find_in(output_pattern::regex("[(?=]\\(?=x"), {"((=x\n"}), 0, "((=x");
}
