#include "suite/peer_programs.hpp"

#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <string>
#include <system_error>

using namespace berth::suite;
using namespace berth::test;

namespace {

/// What the list of one program says it lacks.
std::string lacks(const temp_dir& dir, const std::string& members) {
  write_whole_file(dir / "peers.json", R"({"one": {"does": {"exec": 0.5, "pty": 0}, )" + members + "}}");
  return peers_in(dir.path()).at(0).lacks;
}

}  // namespace

TEST_CASE("peers_in: a program and what it does") {
  const temp_dir dir;
  CHECK(lacks(dir, R"("run": ["sh", "one.sh"], "needs": ["peers.json"])") == "");
  const auto one = peers_in(dir.path()).at(0);
  CHECK(one.name == "one");
  CHECK(one.folder == dir.path());
  CHECK(one.run == std::vector<std::string>{"sh", "one.sh"});
  REQUIRE(one.works.size() == 2);
  CHECK(one.works[0].bench == "exec");
  CHECK(one.works[0].bar == 0.5);
  CHECK(one.works[1].bar == 0);
}

TEST_CASE("peers_in: what is missing is named") {
  const temp_dir dir;
  CHECK(lacks(dir, R"("run": ["no-such-program"])") == "there is no no-such-program on the PATH");
  CHECK(lacks(dir, R"("run": ["./built"])") == "there is no " + dir / "built");
  write_whole_file(dir / "built", "");
  CHECK(lacks(dir, R"("run": ["./built"])") == "there is no " + dir / "built");  // it cannot be executed
  CHECK(lacks(dir, R"("run": ["sh"], "programs": ["sh", "no-such-tool"])") == "there is no no-such-tool on the PATH");
  CHECK(lacks(dir, R"("run": ["sh"], "needs": ["peers.json", "library"])") == "there is no " + dir / "library");
}

TEST_CASE("peers_in: names that would break a table or join a curve are refused") {
  const temp_dir dir;
  for (const char* name : {"", "a b", "a\\u001b[31m", "a\\n", "x-64"}) {
    CAPTURE(name);
    write_whole_file(dir / "peers.json", std::string("{\"") + name + R"(": {"run": ["sh"], "does": {"exec": 0}}})");
    CHECK_THROWS_AS(peers_in(dir.path()), berth::error);
  }
}

TEST_CASE("peers_in: what is no list of peers is an error") {
  const temp_dir dir;
  CHECK_THROWS_AS(peers_in(dir.path()), std::system_error);
  for (const char* members : {R"("run": [])", R"("run": "sh")", R"("run": [1])", R"("walk": ["sh"])"}) {
    CAPTURE(members);
    CHECK_THROWS_AS(lacks(dir, members), berth::error);
  }
  for (const char* text : {"", "[]", R"({"one": 1})", R"({"one": {"run": ["sh"], "does": {"exec": "x"}}})"}) {
    CAPTURE(text);
    write_whole_file(dir / "peers.json", text);
    CHECK_THROWS_AS(peers_in(dir.path()), berth::error);
  }
}
