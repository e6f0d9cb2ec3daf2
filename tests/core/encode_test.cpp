#include "core/text.hpp"

#include "berth/error.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

using namespace berth;
using namespace std::chrono_literals;

namespace {

struct close_pipe {
  void operator()(FILE* pipe) const { pclose(pipe); }
};

/// What /bin/sh prints for a command line.
std::string shell(const std::string& line) {
  const std::unique_ptr<FILE, close_pipe> pipe(popen(line.c_str(), "r"));
  std::string output;
  char buffer[4096];
  while (const auto got = fread(buffer, 1, sizeof buffer, pipe.get())) output.append(buffer, got);
  return output;
}

std::error_code refused_base64(std::string_view text) {
  try {
    (void)base64_decode(text);
  } catch (const error& caught) {
    return caught.code();
  }
  return {};
}

}  // namespace

TEST_CASE("shell_quote: /bin/sh gives every byte back") {
  std::vector<std::string> words{"printf", "%s."};
  std::string wanted;
  std::string all;
  for (int byte = 1; byte < 256; ++byte) {
    words.emplace_back(1, static_cast<char>(byte));
    words.push_back("a" + words.back() + "b");
    wanted += words[words.size() - 2] + "." + words.back() + ".";
    all += static_cast<char>(byte);
  }
  words.push_back(all + all);
  wanted += all + all + ".";
  words.emplace_back();
  wanted += ".";
  CHECK(shell(shell_join(words)) == wanted);
}

TEST_CASE("shell_quote: leaves plain words alone and quotes what the shell would read") {
  CHECK(shell_quote("src/a-b_c.txt") == "src/a-b_c.txt");
  CHECK(shell_quote("") == "''");
  CHECK(shell_quote("a b") == "'a b'");
  CHECK(shell_quote("it's") == "'it'\\''s'");
  for (const auto* word : {"a=b", "~", "$x", "*", "if", "done", "{", "!", "#", "a;b"})
    CHECK(shell_quote(word).front() == '\'');
}

TEST_CASE("shell_quote: a NUL is an invalid argument") {
  std::error_code code;
  try {
    (void)shell_quote(std::string("a\0b", 3));
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(code == errc::invalid_argument);
}

TEST_CASE("base64: the examples of RFC 4648") {
  const std::vector<std::pair<std::string, std::string>> examples{{"", ""},
                                                                  {"f", "Zg=="},
                                                                  {"fo", "Zm8="},
                                                                  {"foo", "Zm9v"},
                                                                  {"foob", "Zm9vYg=="},
                                                                  {"fooba", "Zm9vYmE="},
                                                                  {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : examples) {
    CHECK(base64_encode(bytes) == text);
    CHECK(base64_decode(text) == bytes);
  }
}

TEST_CASE("base64: all lengths and bytes come back") {
  std::string bytes;
  for (int n = 0; n < 600; ++n) {
    CHECK(base64_decode(base64_encode(bytes)) == bytes);
    bytes += static_cast<char>(n * 7 + n / 256);
  }
}

TEST_CASE("base64: anything but the strict form is refused") {
  for (const auto* text :
       {"A",        "AA",     "AAA",        "AAAAA", "=",    "==",   "===",  "====", "A===", "AA=A",      "=AAA",
        "AA==AAAA", "Zg==\n", "Zm9v\nZm9v", "Zm 9v", "Zm9-", "Zm9_", "Zh==", "Zm9=", "ZmF=", "\xC3\xA9zz"}) {
    CAPTURE(text);
    CHECK(refused_base64(text) == errc::protocol);
  }
}

TEST_CASE("parse_duration: reads numbers with units") {
  CHECK(parse_duration("1.5s") == 1500ms);
  CHECK(parse_duration("200ms") == 200ms);
  CHECK(parse_duration("2m") == 2min);
  CHECK(parse_duration("1h30m") == 90min);
  CHECK(parse_duration("1d2h3m4s5ms") == 93784005ms);
  CHECK(parse_duration("0s") == 0ms);
  CHECK(parse_duration("0.001s") == 1ms);
  CHECK(parse_duration("0.5h") == 30min);
  CHECK(parse_duration("106751d") == 24h * 106751);
}

TEST_CASE("parse_duration: refuses everything else") {
  for (const auto* text : {"",
                           "s",
                           "1",
                           "1.5",
                           "-1s",
                           "+1s",
                           "1 s",
                           " 1s",
                           "1s ",
                           "1x",
                           "1S",
                           "1sec",
                           ".5s",
                           "1.s",
                           "1..5s",
                           "1.5.5s",
                           "1m1h",
                           "1s1s",
                           "1ms1s",
                           "0.0001s",
                           "0.5ms",
                           "1e3s",
                           "inf",
                           "nan",
                           "106752d",
                           "9999999999999999999999s",
                           "9223372036854775807d",
                           "106751d25h",
                           "0x10s",
                           "1,5s"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_duration(text));
  }
}
