/// What the mounts of a sandbox let through, tried in one.
#include "isolation/sandboxed.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

/// As every user that can be tried.
template <class Body>
void for_each_user(Body body) {
  if (!has_sandbox()) return;
  for (const uid_t user : sandbox_users()) {
    CAPTURE(user);
    const sandbox_site site(user);
    body(site);
  }
}

void check_denied(const sandbox_site& site, const std::string& text, const std::string& why = "Read-only file system") {
  CAPTURE(text);
  // The site lies in /tmp: where that is private there would be nothing to deny.
  const auto end = site.run(site.plan(isolation_settings().tmp(tmp_kind::host)), text);
  CAPTURE(end.output);
  CHECK(end.code != 0);
  CHECK(end.output.find(why) != std::string::npos);
}

void check_works(const sandbox_site& site, const std::string& text) {
  CAPTURE(text);
  const auto end = site.run(text);
  CAPTURE(end.output);
  CHECK(end.code == 0);
}

}  // namespace

TEST_CASE("sandbox: exit codes pass through") {
  for_each_user([](const sandbox_site& site) {
    CHECK(site.run("exit 3").code == 3);
    CHECK(site.run("true").code == 0);
    CHECK(site.run("sh -c 'kill -9 $$'").code == 137);
    CHECK(site.run("none-such").code == 127);
  });
}

TEST_CASE("sandbox: what is written in a root is there, as the caller's") {
  for_each_user([](const sandbox_site& site) {
    check_works(site, "echo hi >a && mkdir d && ln a b && mv a d/a && mkfifo f && touch t && rm t");
    CHECK(read_whole_file(site.root() + "/d/a") == "hi\n");
    struct stat found {};
    REQUIRE(::stat((site.root() + "/d/a").c_str(), &found) == 0);
    CHECK(found.st_uid == site.user());
  });
}

TEST_CASE("sandbox: nothing outside the roots is written, whichever way it is reached") {
  for_each_user([](const sandbox_site& site) {
    const std::string out = site.outside();
    site.write(out + "/f", "old");
    fs::create_symlink(out + "/f", site.root() + "/link");
    fs::create_directory_symlink(out, site.root() + "/dir");
    check_denied(site, "echo x >" + out + "/new");
    check_denied(site, "echo x >" + out + "/f");
    check_denied(site, "echo x >link");
    check_denied(site, "echo x >dir/new");
    check_denied(site, "echo x >/proc/self/root" + out + "/f");
    check_denied(site, "mv ../outside ../x");
    check_denied(site, "chmod 777 " + out + "/f");
    check_denied(site, "touch -d yesterday " + out + "/f");
    check_denied(site, "rm -f " + out + "/f");
    check_denied(site, "ln " + out + "/f here", "Invalid cross-device link");
    check_denied(site, "echo x >/etc/berth-test");
    CHECK(read_whole_file(out + "/f") == "old");
    CHECK(!fs::exists(out + "/new"));
  });
}

TEST_CASE("sandbox: a hard link that was there before is written through: a documented limit") {
  for_each_user([](const sandbox_site& site) {
    site.write(site.outside() + "/f", "old");
    fs::create_hard_link(site.outside() + "/f", site.root() + "/f");
    check_works(site, "echo new >f");
    CHECK(read_whole_file(site.outside() + "/f") == "new\n");
  });
}

TEST_CASE("sandbox: protected paths are not written, moved or replaced, and neither is what holds them") {
  for_each_user([](const sandbox_site& site) {
    site.write(site.root() + "/.git/hooks/pre-commit", "old");
    site.write(site.root() + "/.git/config", "old");
    check_denied(site, "echo x >.git/hooks/pre-commit");
    check_denied(site, "echo x >.git/hooks/new");
    check_denied(site, "echo x >.git/config");
    check_denied(site, "rm -f .git/config", "Device or resource busy");
    check_denied(site, "mv .git/hooks .git/h", "Device or resource busy");
    check_denied(site, "mv .git .g && mkdir -p .git/hooks", "Device or resource busy");
    check_denied(site, "rmdir .git/hooks", "Device or resource busy");
    check_works(site, "echo x >.git/index && rm .git/index && echo y >other");
    CHECK(read_whole_file(site.root() + "/.git/hooks/pre-commit") == "old");
    CHECK(read_whole_file(site.root() + "/.git/config") == "old");
  });
}

TEST_CASE("sandbox: nothing is left in the tree for a protected path that is not there") {
  for_each_user([](const sandbox_site& site) {
    check_works(site, "true");
    CHECK(fs::is_empty(site.root()));
  });
}

TEST_CASE("sandbox: a private /tmp is empty at first, kept between commands, and /var/tmp too") {
  for_each_user([](const sandbox_site& site) {
    check_works(site, "test \"$(ls /tmp | wc -l)\" -le 1 && echo hi >/tmp/x && cat /var/tmp/x && mktemp");
    check_works(site, "cat /tmp/x");
    CHECK(read_whole_file(site.tmp() + "/x") == "hi\n");
    CHECK(!fs::exists("/tmp/x-of-berth-test"));
  });
}

TEST_CASE("sandbox: the host's /tmp is read-only where it is shared") {
  for_each_user([](const sandbox_site& site) {
    const auto plan = site.plan(isolation_settings().tmp(tmp_kind::host));
    const auto end = site.run(plan, "ls " + site.outside() + " && echo x >/tmp/berth-test-x");
    CAPTURE(end.output);
    CHECK(end.code != 0);
    CHECK(end.output.find("Read-only") != std::string::npos);
  });
}

TEST_CASE("sandbox: settings of the kernel are read-only, for root too") {
  for_each_user([](const sandbox_site& site) {
    // The value that is there already, should it be written after all.
    check_denied(site, "v=$(cat /proc/sys/kernel/core_pattern); echo \"$v\" >/proc/sys/kernel/core_pattern", "");
    const auto end =
        site.run("sh -c 'v=$(cat /proc/sys/kernel/core_pattern); echo \"$v\" >/proc/sys/kernel/core_pattern'");
    CHECK(end.code != 0);
  });
}

TEST_CASE("sandbox: other processes of the host are not there, and /dev/shm is its own") {
  for_each_user([](const sandbox_site& site) {
    const auto end = site.run("kill -0 " + std::to_string(::getpid()));
    CHECK(end.code != 0);
    check_works(site, "test \"$(ls -d /proc/[0-9]* | wc -l)\" -le 5");
    check_works(site, "echo x >/dev/shm/berth-test-shm");
    CHECK(!fs::exists("/dev/shm/berth-test-shm"));
  });
}

TEST_CASE("sandbox: there are no capabilities, and none can be had") {
  for_each_user([](const sandbox_site& site) {
    const auto end = site.run("grep -E 'NoNewPrivs|CapEff|CapBnd|Seccomp:' /proc/self/status");
    CHECK(end.output.find("NoNewPrivs:\t1") != std::string::npos);
    CHECK(end.output.find("CapEff:\t0000000000000000") != std::string::npos);
    CHECK(end.output.find("CapBnd:\t0000000000000000") != std::string::npos);
    CHECK(end.output.find("Seccomp:\t2") != std::string::npos);
    check_denied(site, "mknod m c 1 3", "Operation not permitted");
  });
}

TEST_CASE("sandbox: what started bwrap is not to be read from process 1") {
  for_each_user([](const sandbox_site& site) {
    const auto end = site.run("tr '\\0' '\\n' </proc/1/environ | grep -v '^\\(PATH\\|LC_ALL\\|PWD\\)='; true");
    CHECK(end.output.find('=') == std::string::npos);
  });
}

TEST_CASE("sandbox: a link that a command planted where a root is mounted leads nowhere") {
  for_each_user([](const sandbox_site& site) {
    check_works(site, "true");
    const fs::path below = site.root().substr(std::string("/tmp/").size());
    if (!site.root().starts_with("/tmp/")) return;
    const std::string first = below.begin()->string();
    fs::remove_all(site.tmp() + "/" + first);
    fs::create_directory_symlink("/oldroot" + site.outside(), site.tmp() + "/" + first);
    check_works(site, "echo hi >a");
    CHECK(fs::is_empty(site.outside()));
  });
}
