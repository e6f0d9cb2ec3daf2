#include "cli/env_file.hpp"

#include "cli/program.hpp"
#include "cli/subcommand.hpp"
#include "support/temp_dir.hpp"

#include <cstdlib>

using namespace berth;
using namespace berth::cli;

namespace {

/// "NAME=VALUE;" for each variable, or what is wrong.
std::string read(std::string_view text) {
  env_changes changes;
  try {
    add_env_text(changes, text, "f.env");
  } catch (const usage_error& mistake) {
    return mistake.what();
  }
  std::string all;
  for (const auto& change : changes) all += change.name + '=' + change.value.value_or("-") + ';';
  return all;
}

}  // namespace

TEST_CASE("env file: a variable a line, values as they stand") {
  CHECK(read("A=1\nB=two words # no comment\nC=\"q\"\nD=\nE=a=b\n") ==
        "A=1;B=two words # no comment;C=\"q\";D=;E=a=b;");
  CHECK(read("A= 1 ") == "A= 1 ;");
}

TEST_CASE("env file: empty lines, comments, leading blanks, CRLF and a byte order mark") {
  CHECK(read("\xEF\xBB\xBF# c\n\n  \t\n  A=1\r\n  # c\nB=2") == "A=1;B=2;");
  CHECK(read("") == "");
}

TEST_CASE("env file: a name alone is taken from our environment, or left out") {
  ::setenv("BERTH_TEST_OURS", "x y", 1);
  ::unsetenv("BERTH_TEST_MISSING");
  CHECK(read("BERTH_TEST_OURS\nBERTH_TEST_MISSING\n") == "BERTH_TEST_OURS=x y;");
}

TEST_CASE("env file: mistakes name file and line") {
  CHECK(read("A=1\n\n=2\n") == "f.env:3: no variable name in '=2'");
  CHECK(read("A B=2") == "f.env:1: variable name 'A B' has a blank");
  CHECK(read("export A=2") == "f.env:1: variable name 'export A' has a blank");
  CHECK(read(std::string_view("A=1\nB=\0x", 8)) == "f.env:2: variable B has a NUL byte");
}

TEST_CASE("env file: its variables reach the command, and those of --env win") {
  test::temp_dir directory;
  const auto path = directory / "vars.env";
  test::write_whole_file(path, "ONE=1\nTWO=2\n");
  const auto done = test::berth_ends({"exec", "-e", "TWO=zwei", "--env-file", path, "echo $ONE $TWO"});
  CHECK(done.out == "1 zwei\n");
}

TEST_CASE("env file: it may be a pipe") {
  const auto done = test::shell_ends("echo ONE=1 | \"$0\" exec --env-file /dev/stdin 'echo $ONE'");
  CHECK(done.out == "1\n");
}
