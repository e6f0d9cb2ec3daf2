#include "cli/arguments.hpp"

#include "cli/exec_options.hpp"
#include "cli/exec_report.hpp"
#include "cli/program.hpp"

#include <CLI/CLI.hpp>

using namespace berth;
using namespace berth::cli;
using namespace std::chrono_literals;

namespace {

exec_options parsed(const words& arguments) { return parse_exec_options(arguments); }

std::string mistake_in(const words& arguments) {
  try {
    parse_exec_options(arguments);
  } catch (const usage_error& mistake) {
    return mistake.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("arguments: the command begins at the first word that is no option") {
  const auto options = parsed({"--json", "-e", "A=1", "--timeout=2s", "ls", "--json", "-e", "--", "x"});
  CHECK(options.json);
  CHECK(options.timeout == 2s);
  CHECK(options.command_words == words{"ls", "--json", "-e", "--", "x"});
}

TEST_CASE("arguments: behind the first -- everything is the command's, dashes and further -- too") {
  CHECK(parsed({"--", "--json"}).command_words == words{"--json"});
  CHECK(parsed({"--", "--", "a"}).command_words == words{"--", "a"});
  CHECK(parsed({"--json", "--", "-x"}).command_words == words{"-x"});
  CHECK(parsed({"-"}).command_words == words{"-"});
  CHECK(parsed({"--", ""}).command_words == words{""});
}

TEST_CASE("arguments: a value is the next word whatever it looks like") {
  const auto options = parsed({"-e", "--json", "true"});
  CHECK_FALSE(options.json);
  CHECK(mistake_in({"-e", "--json=1", "--cwd", "--", "true"}) == "--cwd --: No such file or directory");
}

TEST_CASE("arguments: short options take their value attached or apart") {
  const auto options = parsed({"-eA=1", "-e", "B=2=3", "--env=C=", "--env", "D={}", "-e", "E=[x,y]", "true"});
  REQUIRE(options.env.size() == 5);
  CHECK(options.env[0].name == "A");
  CHECK(options.env[1].value == "2=3");
  CHECK(options.env[2].value == "");
  CHECK(options.env[3].value == "{}");
  CHECK(options.env[4].value == "[x,y]");
}

TEST_CASE("arguments: the last of several values counts") {
  CHECK(parsed({"--timeout", "1s", "--timeout", "5s", "true"}).timeout == 5s);
}

TEST_CASE("arguments: removals come first, then files, then variables") {
  const auto options = parsed({"-e", "A=1", "--unset-env", "A", "true"});
  REQUIRE(options.env.size() == 2);
  CHECK_FALSE(options.env[0].value);
  CHECK(options.env[1].value == "1");
}

TEST_CASE("arguments: help needs no command") {
  CHECK(parsed({"--help"}).help);
  CHECK(parsed({"-h", "whatever"}).help);
  CHECK_FALSE(parsed({"ls", "--help"}).help);
}

TEST_CASE("arguments: one word is shell text, several are not") {
  CHECK(make_command(parsed({"a b"})).is_shell());
  CHECK_FALSE(make_command(parsed({"a", "b"})).is_shell());
}

TEST_CASE("arguments: each mistake says what and where") {
  CHECK(mistake_in({}) == "no command given; 'berth help exec' shows how");
  CHECK(mistake_in({"--"}) == "no command given; 'berth help exec' shows how");
  CHECK(mistake_in({"--nope", "x"}) == "unknown option '--nope'; 'berth help exec' lists those there are");
  CHECK(mistake_in({"-x"}) == "unknown option '-x'; 'berth help exec' lists those there are");
  CHECK(mistake_in({"--cwd"}) == "--cwd needs a value");
  CHECK(mistake_in({"-e"}) == "-e needs a value");
  CHECK(mistake_in({"--json=1", "x"}) == "--json takes no value");
  CHECK(mistake_in({"--cwd", "/nope", "x"}) == "--cwd /nope: No such file or directory");
  CHECK(mistake_in({"--cwd", "", "x"}) == "--cwd : No such file or directory");
  CHECK(mistake_in({"--cwd", "/dev/null", "x"}) == "--cwd /dev/null: Not a directory");
  CHECK(mistake_in({"-e", "=1", "x"}) == "--env: no variable name in '=1'");
  CHECK(mistake_in({"-e", "", "x"}) == "--env: no variable name in ''");
  CHECK(mistake_in({"--unset-env", "A=1", "x"}) == "--unset-env: 'A=1' is no variable name");
  CHECK(mistake_in({"--env-file", "/nope", "x"}) == "--env-file /nope: No such file or directory");
  CHECK(mistake_in({"--env-file", "/", "x"}) == "--env-file /: Is a directory");
  CHECK(mistake_in({"--timeout", "30", "x"}) == "--timeout: '30' is not a time; write 30s, 1.5s, 200ms, 2m or 1h30m");
  CHECK(mistake_in({"--timeout", "0s", "x"}) == "--timeout must be more than 0");
  CHECK(mistake_in({"--idle-timeout", "-1s", "x"}) ==
        "--idle-timeout: '-1s' is not a time; write 30s, 1.5s, 200ms, 2m or 1h30m");
  CHECK(mistake_in({"--grace", "0s", "x"}) == "none");
}

TEST_CASE("arguments: a time is told in the notation it is given in") {
  CHECK(duration_text(30s) == "30s");
  CHECK(duration_text(1500ms) == "1.5s");
  CHECK(duration_text(200ms) == "200ms");
  CHECK(duration_text(2min) == "2m");
  CHECK(duration_text(90min) == "1h30m");
  CHECK(duration_text(61s) == "1m1s");
  CHECK(duration_text(60001ms) == "1m0.001s");
}

TEST_CASE("arguments: a mistake is one line on standard error, and 125") {
  for (const words& arguments : {words{"exec"}, words{"exec", "--nope"}, words{"exec", "--timeout", "x\ny", "true"},
                                 words{"nope"}, words{"help", "nope"}}) {
    const auto done = test::berth_ends(arguments);
    CAPTURE(done.err);
    CHECK(done.code == 125);
    CHECK(done.out.empty());
    CHECK(test::count_lines(done.err) == 1);
    CHECK(done.err.starts_with(arguments.front() == "exec" ? "berth: exec: " : "berth: unknown command"));
  }
}

TEST_CASE("arguments: no control character of a mistake reaches the terminal, and none of C1 either") {
  const auto done = test::berth_ends({"exec", "--timeout", "x\x1b[31m\xc2\x9b[31m\xe2\x80\xae", "true"});
  CHECK(done.code == 125);
  CHECK(done.err.find("x?[31m?[31m?") != std::string::npos);
}

TEST_CASE("arguments: options and words in any order, up to --") {
  CLI::App app("", "ls");
  add_value(app, "-e,--env");
  app.add_flag("-l");
  const auto sorted = sort_words(app, {"a", "-le", "1", "-", "--env=2", "b", "--", "-l", "--"});
  CHECK(sorted.options == words{"-l", "-e", "1", "--env", "2"});
  CHECK(sorted.command == words{"a", "-", "b", "-l", "--"});
  CHECK_THROWS_AS(sort_words(app, {"a", "-x"}), usage_error);
  CHECK_THROWS_AS(sort_words(app, {"a", "-e"}), usage_error);
}
