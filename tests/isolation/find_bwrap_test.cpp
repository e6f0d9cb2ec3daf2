#include "isolation/find_bwrap.hpp"

#include "support/skipping.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

std::string found_in(const std::string& path, const std::vector<std::string>& roots,
                     const std::vector<std::string>& of_system = {}) {
  const variable_is only("PATH", path);
  try {
    return find_bwrap(roots, of_system);
  } catch (const error&) {
    return {};
  }
}

}  // namespace

TEST_CASE("find bwrap: what a command could lead elsewhere is not run, by whatever name it is found") {
  const temp_dir at;
  const std::string root = at / "root", tool = at / "tool/bwrap";
  for (const std::string& each : {root + "/bin", at / "tool", at / "links", at / "plain"}) fs::create_directories(each);
  write_whole_file(tool, "#!/bin/sh\n");
  fs::permissions(tool, static_cast<fs::perms>(0755));
  fs::create_symlink(tool, root + "/bin/bwrap");
  fs::create_directory_symlink("root", at / "alias");
  fs::create_symlink(at / "alias/bin/bwrap", at / "links/bwrap");
  fs::create_symlink("../tool/bwrap", at / "plain/bwrap");
  CHECK(found_in(at / "tool", {root}) == tool);
  CHECK(found_in(at / "plain", {root}) == tool);
  for (const std::string& each : {root + "/bin", at / "alias/bin", root + "//bin", root + "/./bin", at / "links"}) {
    CAPTURE(each);
    CHECK(found_in(each, {root}) != tool);
    CHECK(found_in(each, {"/"}) == tool);
  }
}

TEST_CASE("find bwrap: one that a command of another handle could have made comes after that of the system") {
  if (!has_bwrap()) return;
  const std::string of_system = fs::canonical("/usr/bin/bwrap").string();
  const temp_dir at;
  fs::create_directory(at / "bin");
  write_whole_file(at / "bin/bwrap", "#!/bin/sh\n");
  fs::permissions(at / "bin/bwrap", static_cast<fs::perms>(0755));
  CHECK(found_in(at / "bin", {}, system_folders()) == of_system);
  CHECK(found_in((at / "bin") + ":/usr/bin", {}, system_folders()) == of_system);
  CHECK(found_in(at / "bin", {}) == at / "bin/bwrap");
  const variable_is named("BERTH_BWRAP", at / "bin/bwrap");
  CHECK(found_in("/usr/bin", {}, system_folders()) == at / "bin/bwrap");
  CHECK(found_in("/usr/bin", {at.path().string()}, system_folders()).empty());
  const variable_is gone("BERTH_BWRAP", at / "none");
  CHECK(found_in("/usr/bin", {}, system_folders()).empty());
}
