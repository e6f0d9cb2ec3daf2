#include "isolation/hint.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace berth;

namespace {

struct world {
  isolation_settings settings;
  isolation_plan plan;
  std::set<std::string> unwritable;
  std::set<std::string> present;

  world() {
    plan.roots = {"/w", "/home/u/.cache"};
    plan.tmp = "/own";
    plan.tmp_at = {"/tmp", "/var/tmp"};
    plan.pinned = {"/w/.git"};
    plan.protected_paths = {"/w/.git/config", "/w/.git/hooks"};
  }

  std::optional<denial> find(std::string_view text, int code = 1) const {
    const host_view host{[this](const std::string& path) { return !unwritable.contains(path); },
                         [this](const std::string& path) { return present.contains(path); }};
    return find_denial(settings, plan, {text, "/w/sub", code}, host);
  }
};

void check_write(const world& here, std::string_view text, const std::string& path, int code = 1) {
  CAPTURE(text);
  const auto found = here.find(text, code);
  REQUIRE(found.has_value());
  CHECK(found->kind == denied_kind::write);
  CHECK(found->path == path);
  CHECK(found->line.find('\n') == std::string::npos);
  CHECK(found->line.starts_with("[isolation] "));
}

}  // namespace

TEST_CASE("hint: a write outside the roots names the path, the roots and the setting") {
  world here;
  const auto found = here.find("/bin/sh: 1: cannot create /etc/x: Read-only file system\n", 2);
  REQUIRE(found.has_value());
  CHECK(
      found->line ==
      "[isolation] write to /etc/x may have been blocked: writable roots are /w, /home/u/.cache; add the directory to "
      "isolation.writable_roots to allow it");
  here.settings.setting_name("--writable");
  CHECK(here.find("x: Read-only file system", 0).has_value() == false);
  CHECK(
      here.find("touch: cannot touch '/etc/x': Read-only file system")->line.find("add the directory to --writable") !=
      std::string::npos);
}

TEST_CASE("hint: the ways in which programs say it") {
  const world here;
  check_write(here, "touch: cannot touch '/etc/a b': Read-only file system\n", "/etc/a b");
  check_write(here, "mkdir: cannot create directory \xe2\x80\x98/etc/x\xe2\x80\x99: Read-only file system\n", "/etc/x");
  check_write(here, "fatal: Unable to create '/r/.git/index.lock': Read-only file system\n", "/r/.git/index.lock", 128);
  check_write(here, "OSError: [Errno 30] Read-only file system: '/etc/x'\n", "/etc/x");
  check_write(here, "Error: EROFS: read-only file system, open '/etc/x'\n", "/etc/x");
  check_write(here, "error: failed to write `/etc/x`: Read-only file system (os error 30)\n", "/etc/x");
  check_write(here, "bash: ../../etc/x: Read-only file system\r\n", "/etc/x");
  check_write(here, "one\ntwo\nrm: cannot remove '/etc/x': Read-only file system\nthree\n", "/etc/x", 0);
}

TEST_CASE("hint: a protected path is said to be one") {
  const world here;
  for (const std::string text : {"/bin/sh: 1: cannot create /w/.git/hooks/x: Read-only file system",
                                 "mv: cannot move '/w/.git' to '/w/g': Device or resource busy",
                                 "mv: cannot move '../.git' to 'g': Device or resource busy",
                                 "sh: 1: cannot create ../.git/config: Read-only file system"}) {
    CAPTURE(text);
    const auto found = here.find(text);
    REQUIRE(found.has_value());
    CHECK(found->line.find("protected") != std::string::npos);
  }
}

TEST_CASE("hint: none where the isolation is not the cause") {
  world here;
  here.unwritable = {"/etc/shadow", "/mnt/cd/x"};
  for (const std::string text :
       {"", "false\n", "cat: /w/sandbox/x: No such file or directory\n", "sandbox denied\n",
        "cat: /w/locked: Permission denied\n", "cat: locked: Permission denied\n",
        "cat: /etc/shadow: Permission denied\n", "touch: cannot touch '/mnt/cd/x': Read-only file system\n",
        "kill: (1): Operation not permitted\n", "cat: /w/.git/config: Permission denied\n",
        "umount: /mnt: Device or resource busy\n", "the Read-only file system was checked\n",
        "cat: /w/a: Read-only file system\n"}) {
    CAPTURE(text);
    CHECK(!here.find(text).has_value());
  }
}

TEST_CASE("hint: a refused write that this user could do outside is one") {
  const world here;
  check_write(here, "touch: cannot touch '/opt/mine': Operation not permitted\n", "/opt/mine");
}

TEST_CASE("hint: the network, where it is off and the command failed") {
  world here;
  for (const std::string text : {"curl: (6) Could not resolve host: example.org\n", "connect: Network is unreachable\n",
                                 "ping: example.org: Temporary failure in name resolution\n",
                                 "nc: connect to 127.0.0.1 port 1 (tcp) failed: Connection refused\n"}) {
    CAPTURE(text);
    const auto found = here.find(text);
    REQUIRE(found.has_value());
    CHECK(found->kind == denied_kind::network);
    CHECK(found->line == "[isolation] network is off for this context (isolation.network = deny)");
    CHECK(!here.find(text, 0).has_value());
  }
  here.plan.network = access_rule::allow;
  CHECK(!here.find("connect: Network is unreachable\n").has_value());
}

TEST_CASE("hint: what this host has in /tmp, and a private one has not") {
  world here;
  here.present = {"/tmp/x", "/w/x"};
  const auto found = here.find("cat: /tmp/x: No such file or directory\n");
  REQUIRE(found.has_value());
  CHECK(found->kind == denied_kind::tmp);
  CHECK(found->path == "/tmp/x");
  CHECK(!here.find("cat: /tmp/y: No such file or directory\n").has_value());
  CHECK(!here.find("cat: /w/x: No such file or directory\n").has_value());
  here.plan.tmp_at.clear();
  CHECK(!here.find("cat: /tmp/x: No such file or directory\n").has_value());
}

TEST_CASE("hint: settings of the command line are named as its options") {
  world here;
  here.settings.setting_name("--writable");
  CHECK(here.find("connect: Network is unreachable\n")->line ==
        "[isolation] network is off for this context (--network deny)");
  CHECK(here.find("sh: 1: cannot create /w/.git/config: Read-only file system")->line.ends_with("(--protect)"));
}

TEST_CASE("hint: links are followed before it is asked what may be written") {
  const world here;
  const auto yes = [](const std::string&) { return true; };
  const auto real = [](const std::string& path) { return path.starts_with("/link") ? "/w" + path.substr(5) : path; };
  const host_view host{yes, yes, real};
  const auto found = [&](std::string_view text) {
    return find_denial(here.settings, here.plan, {text, "/w", 1}, host);
  };
  CHECK(!found("cat: /link/locked: Permission denied\n"));
  CHECK(found("sh: 1: cannot create /link/.git/hooks/x: Read-only file system")->path == "/w/.git/hooks/x");
}

TEST_CASE("hint: only the end of a long output is read, and the first denial in it is told once") {
  const world here;
  std::string text = "touch: cannot touch '/etc/early': Read-only file system\n";
  text += std::string(70000, 'x') + "\ntouch: cannot touch '/etc/one': Read-only file system\n";
  text += "touch: cannot touch '/etc/two': Read-only file system\n";
  check_write(here, text, "/etc/one");
  check_write(here, "x: cannot create /etc/a\x01z: Read-only file system", "/etc/a\x01z");
}
