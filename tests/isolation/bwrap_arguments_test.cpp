#include "isolation/bwrap.hpp"

#include "isolation/golden.hpp"
#include "support/temp_dir.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

std::string shown(const isolation_plan& plan) {
  return shown_words(bwrap_arguments(plan, {"PATH=/bin", "A=b=c\n", "EMPTY=", "=bad", "worse"}, 5));
}

void check_golden(const std::string& name, const isolation_plan& plan) {
  CHECK(shown(plan) == golden(name, shown(plan)));
}

/// The places in the list of what is mounted on a path, in order.
std::vector<std::size_t> mounts_on(const std::vector<std::string>& words, const std::string& path) {
  std::vector<std::size_t> found;
  for (std::size_t i = 1; i < words.size(); ++i) {
    const bool binds = i > 1 && words[i - 2].find("bind") != std::string::npos;
    if (words[i] == path && (binds || words[i - 1] == "--tmpfs")) found.push_back(i);
  }
  return found;
}

}  // namespace

TEST_CASE("bwrap: no root and no network") { check_golden("bwrap_none.txt", {}); }

TEST_CASE("bwrap: roots, pins, protected paths and a private /tmp, in the order in which they lie on each other") {
  isolation_plan plan;
  plan.roots = {"/w/repo", "/tmp/x"};
  plan.pinned = {"/w/repo/.git"};
  plan.protected_paths = {"/w/repo/.git/config", "/w/repo/.git/hooks"};
  plan.tmp = "/tmp/own";
  plan.tmp_at = {"/tmp", "/var/tmp"};
  check_golden("bwrap_repository.txt", plan);
}

TEST_CASE("bwrap: the network allowed, sockets masked") {
  isolation_plan plan;
  plan.roots = {"/w"};
  plan.network = access_rule::allow;
  plan.unix_sockets = access_rule::allow;
  plan.masked_sockets = {"/run/docker.sock", "/tmp/agent/sock"};
  plan.masked_directories = {"/run/user"};
  check_golden("bwrap_network.txt", plan);
  plan.tmp = "/own";
  plan.tmp_at = {"/tmp"};
  const auto words = bwrap_arguments(plan, {}, {});
  CHECK(mounts_on(words, "/tmp/agent/sock").empty());
  CHECK(mounts_on(words, "/run/docker.sock").size() == 1);
}

TEST_CASE("bwrap: everything writable leaves /dev, /proc and a private /tmp covered") {
  isolation_plan plan;
  plan.roots = {"/"};
  plan.tmp = "/own";
  plan.tmp_at = {"/tmp"};
  plan.masked_directories = {"/run/user"};
  check_golden("bwrap_whole.txt", plan);
}

TEST_CASE("bwrap: a masked directory hides what a root above it brings, and not a root below it") {
  isolation_plan plan;
  plan.masked_directories = {"/run/user"};
  plan.roots = {"/run"};
  auto words = bwrap_arguments(plan, {}, {});
  CHECK(mounts_on(words, "/run/user").back() > mounts_on(words, "/run").front());
  plan.roots = {"/run/user/1000/x"};
  words = bwrap_arguments(plan, {}, {});
  CHECK(mounts_on(words, "/run/user").back() < mounts_on(words, "/run/user/1000/x").front());
}

TEST_CASE("bwrap: whatever is in a path, it is one word") {
  isolation_plan plan;
  plan.roots = {"/w/a\"b", "/w/a\\b", "/w/a b", "/w/a\nb", "/w/\xc3\xa9\xff", "/w/--bind"};
  const auto words = bwrap_arguments(plan, {}, {});
  for (const std::string& each : plan.roots) CHECK(mounts_on(words, each).size() == 1);
}

TEST_CASE("bwrap: an environment that is too large for it is an error, and not cut") {
  const std::vector<std::string> most(2900, "A=b");
  CHECK_NOTHROW((void)bwrap_arguments({}, most, {}));
  const std::vector<std::string> more(3000, "A=b");
  try {
    (void)bwrap_arguments({}, more, {});
    FAIL("no error");
  } catch (const error& failure) {
    CHECK(failure.code() == errc::limit_exceeded);
  }
}

TEST_CASE("bwrap: mount points in a private /tmp are made without following what a command left there") {
  const temp_dir at;
  const temp_dir outside;
  fs::create_directories(at / "tmp");
  fs::create_directories(at / "below/root");
  isolation_plan plan;
  plan.tmp = at / "tmp";
  plan.tmp_at = {at.path().string()};
  plan.roots = {at / "below/root", "/elsewhere", at.path().string()};
  fs::create_directory_symlink(outside.path(), at / "tmp/below");
  make_mount_points(plan);
  CHECK(fs::is_directory(fs::symlink_status(at / "tmp/below")));
  CHECK(fs::is_directory(at / "tmp/below/root"));
  CHECK(fs::is_empty(outside.path()));
  write_whole_file(at / "below/file", "");
  plan.roots = {at / "below/file"};
  fs::create_symlink(outside / "made", at / "tmp/below/file");
  make_mount_points(plan);
  CHECK(fs::is_regular_file(fs::symlink_status(at / "tmp/below/file")));
  CHECK(fs::is_empty(outside.path()));
}
