#include <berth/command.hpp>
#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <cmath>

using namespace berth;
using namespace std::chrono_literals;
using words = std::vector<std::string>;

namespace {

std::string refusal(const command& what) {
  try {
    what.validate();
  } catch (const error& caught) {
    return caught.code() == errc::invalid_argument ? caught.message() : "another error";
  }
  return "valid";
}

const std::string nul("a\0b", 3);

}  // namespace

TEST_CASE("command: shell text that begins with a dash is no option of the shell") {
  CHECK(command("-x").argv() == std::vector<std::string>{"/bin/sh", "-c", "--", "-x"});
  CHECK(command("+x").argv() == std::vector<std::string>{"/bin/sh", "-c", "--", "+x"});
  CHECK(command("x").argv() == std::vector<std::string>{"/bin/sh", "-c", "x"});
}

TEST_CASE("command: shell text runs in /bin/sh, or in the shell that was named") {
  CHECK(command("ls | wc").argv() == words{"/bin/sh", "-c", "ls | wc"});
  CHECK(command("ls").shell("/bin/bash").login_shell().argv() == words{"/bin/bash", "-l", "-c", "ls"});
}

TEST_CASE("command: an argument list runs as it is") {
  CHECK(argv("git", "clone", std::string("a b")).argv() == words{"git", "clone", "a b"});
  CHECK(argv("true").shell("/bin/bash").login_shell().argv() == words{"true"});
  CHECK(!argv("true").is_shell());
}

TEST_CASE("command: setters work on names and on temporaries") {
  command named("true");
  named.cwd("/a").timeout(5s).grace(0ms);
  CHECK(named.cwd() == "/a");
  CHECK(named.timeout() == 5s);
  const command made = command("true").env("A", "1").unset_env("B").output_limit(7).output_split(1).merge_stderr();
  REQUIRE(made.env_changes().size() == 2);
  CHECK(made.env_changes()[0].value == "1");
  CHECK(!made.env_changes()[1].value);
  CHECK(made.output_limit() == 7);
  CHECK(made.merges_stderr());
}

TEST_CASE("command: input can be bytes, a stream or nothing, whatever was said last") {
  command what("cat");
  CHECK(what.input_from() == input_kind::closed);
  what.input("abc");
  CHECK(what.input_from() == input_kind::bytes);
  CHECK(what.take_input() == "abc");
  CHECK(what.input_from() == input_kind::bytes);
  CHECK(what.input_bytes().empty());
  what.input("abc").input_stream();
  CHECK(what.input_bytes().empty());
}

TEST_CASE("command: validate names the field") {
  CHECK(refusal(command("")) == "valid");
  CHECK(refusal(command(words())) == "command: argv is empty");
  CHECK(refusal(argv("")) == "command: the program, argv[0], is empty");
  CHECK(refusal(argv("a", nul)) == "command: argv[1] holds a NUL byte");
  CHECK(refusal(command(nul)) == "command: shell text holds a NUL byte");
  CHECK(refusal(command("a").shell("")) == "command: shell is empty");
  CHECK(refusal(command("a").cwd(nul)) == "command: cwd holds a NUL byte");
  CHECK(refusal(command("a").spill(nul)) == "command: spill holds a NUL byte");
}

TEST_CASE("command: validate looks at the environment, and shows no value") {
  CHECK(refusal(command("a").env("", "x")) == "command: env: a name is empty");
  CHECK(refusal(command("a").env("A=B", "x")) == "command: env: the name A=B holds '='");
  CHECK(refusal(command("a").unset_env("A=B")) == "command: env: the name A=B holds '='");
  CHECK(refusal(command("a").env(nul, "x")) == "command: env: a name holds a NUL byte");
  CHECK(refusal(command("a").env("KEY", nul)) == "command: env: the value of KEY holds a NUL byte");
}

TEST_CASE("command: validate looks at times and parts") {
  CHECK(refusal(command("a").timeout(0ms)) == "command: timeout must be greater than 0");
  CHECK(refusal(command("a").idle_timeout(-1ms)) == "command: idle_timeout must be greater than 0");
  CHECK(refusal(command("a").grace(-1ms)) == "command: grace must not be negative");
  CHECK(refusal(command("a").grace(0ms)) == "valid");
  CHECK(refusal(command("a").output_split(1.5)) == "command: output_split must lie between 0 and 1");
  CHECK(refusal(command("a").output_split(std::nan(""))) == "command: output_split must lie between 0 and 1");
}
