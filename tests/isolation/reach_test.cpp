#include "isolation/reach.hpp"

#include "support/skipping.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

TEST_CASE("reach: a directory of another user that may not be passed bars the way, and one of ours never does") {
  constexpr uid_t somebody = 4711;
  const temp_dir at;
  fs::create_directories(at / "d/in");
  const auto is = [&](mode_t mode, uid_t user, gid_t group) {
    REQUIRE(::chmod((at / "d").c_str(), mode) == 0);
    REQUIRE(::chown((at / "d").c_str(), user, group) == 0);
    return is_barred(at / "d/in/mount");
  };
  CHECK_FALSE(is(0000, ::geteuid(), ::getegid()));
  CHECK_FALSE(is(0755, ::geteuid(), ::getegid()));
  CHECK_FALSE(is_barred(at / "none/in/mount"));
  CHECK_FALSE(is_barred("/"));
  if (::geteuid() != 0) return skip("only root gives files away");
  CHECK(is(0700, somebody, somebody));
  CHECK(is(0710, somebody, somebody));
  CHECK(is(0701, somebody, ::getegid()));
  CHECK_FALSE(is(0710, somebody, ::getegid()));
  CHECK_FALSE(is(0711, somebody, somebody));
  CHECK_FALSE(is_barred(at / "d"));
}
