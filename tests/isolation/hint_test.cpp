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

  std::optional<denial> find(std::string_view text, int code = 1, std::string_view cwd = "/w/sub") const {
    const host_view host{[this](const std::string& path) { return !unwritable.contains(path); },
                         [this](const std::string& path) { return present.contains(path); },
                         {},
                         [](const std::string& path) { return path == "/home/u" || path == "/home"; }};
    return find_denial(settings, plan, {text, cwd, code}, host);
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
  world here;
  here.present = {"/etc"};
  check_write(here, "touch: cannot touch '/etc/a b': Read-only file system\n", "/etc/a b");
  check_write(here, "mkdir: cannot create directory \xe2\x80\x98/etc/x\xe2\x80\x99: Read-only file system\n", "/etc/x");
  check_write(here, "fatal: Unable to create '/r/.git/index.lock': Read-only file system\n", "/r/.git/index.lock", 128);
  check_write(here, "OSError: [Errno 30] Read-only file system: '/etc/x'\n", "/etc/x");
  check_write(here, "Error: EROFS: read-only file system, open '/etc/x'\n", "/etc/x");
  check_write(here, "error: failed to write `/etc/x`: Read-only file system (os error 30)\n", "/etc/x");
  check_write(here, "bash: ../../etc/x: Read-only file system\r\n", "/etc/x");
  check_write(here, "tar: /etc/a b.tar: Cannot open: Read-only file system\n", "/etc/a b.tar", 2);
  check_write(here, "/etc/p: Read-only file system at -e line 1.\n", "/etc/p");
  check_write(here, "  Read-only file system (os error 30)\n", "");
  check_write(here,
              "error: failed to create directory `/etc/cc`\n\nCaused by:\n  Read-only file system (os error 30)\n",
              "/etc/cc");
  check_write(here, "npm error code EROFS\nnpm error EROFS: read-only file system, mkdir '/etc/n'\n", "/etc/n");
  check_write(here, "npm error code EROFS\nnpm error due to an error writing to the directory: /etc/.npm/_logs\n",
              "/etc/.npm/_logs");
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
        "cat: /w/a: Read-only file system\n", "error: failed to read `/etc/x`\n",
        "npm error due to an error writing to the directory: /etc/.npm/_logs\n",
        "Error: attempt to write a readonly database\n"}) {
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
  for (const std::string text :
       {"curl: (6) Could not resolve host: example.org\n", "connect: Network is unreachable\n",
        "ping: example.org: Temporary failure in name resolution\n",
        "... [Errno -3] Temporary failure in name resolution')': /simple/six/\n",
        "Error: getaddrinfo EAI_AGAIN example.org\n", "Error: getaddrinfo ENOTFOUND example.org\n",
        "ssh: Could not resolve hostname x: Name or service not known\n",
        "socket.gaierror: [Errno -2] Name or service not known\n",
        "dial tcp 1.1.1.1:443: connect: network is unreachable\n",
        "OSError: [Errno 101] Network is unreachable')': /simple/six/\n"}) {
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

TEST_CASE("hint: a client that could not connect to a host that it names") {
  world here;
  for (const std::string text :
       {"bash: connect: Connection refused\nbash: line 1: /dev/tcp/127.0.0.1/9: Connection refused\n",
        "nc: connect to 127.0.0.1 port 1 (tcp) failed: Connection refused\n",
        "curl: (7) Failed to connect to db port 3000 after 0 ms: Couldn't connect to server\n",
        "curl: (7) Failed to connect to 127.0.0.1 port 3000: Connection refused\n",
        "ssh: connect to host localhost port 22: Connection refused\r\n",
        "psql: error: connection to server at \"localhost\" (127.0.0.1), port 5432 failed: Connection refused\n",
        "Connecting to 127.0.0.1:80... failed: Connection refused.\n",
        "Could not connect to Redis at 127.0.0.1:6379: Connection refused\n",
        "dial tcp 127.0.0.1:80: connect: connection refused\n", "Error: connect ECONNREFUSED 127.0.0.1:3000\n",
        "fatal: unable to connect to localhost: localhost[0: 127.0.0.1]: errno=Connection refused\n"}) {
    CAPTURE(text);
    const auto found = here.find(text);
    REQUIRE(found.has_value());
    CHECK(found->kind == denied_kind::network);
    CHECK(found->line ==
          "[isolation] network is off for this context (isolation.network = deny); the loopback of this host is out of "
          "reach too");
    CHECK(!here.find(text, 0).has_value());
  }
  for (const std::string text : {"Connection refused\n", "ConnectionRefusedError: [Errno 111] Connection refused\n",
                                 "test.cpp:30: connect: Connection refused\n", "FAILED: retries after ECONNREFUSED\n",
                                 "AssertionError: could not connect to 127.0.0.1:1: Connection refused\n",
                                 "expected connect ECONNREFUSED 127.0.0.1:1\n"}) {
    CAPTURE(text);
    CHECK(!here.find(text).has_value());
  }
}

TEST_CASE("hint: the ways in which programs miss what lies in a private /tmp") {
  world here;
  here.present = {"/tmp/x.py", "/tmp/d", "/tmp/d/package.json", "/tmp/tool"};
  const auto check = [&](std::string_view text, const std::string& path) {
    CAPTURE(text);
    const auto found = here.find(text);
    REQUIRE(found.has_value());
    CHECK(found->kind == denied_kind::tmp);
    CHECK(found->path == path);
    CHECK(!here.find(text, 0).has_value());
  };
  check("python3: can't open file '/tmp/x.py': [Errno 2] No such file or directory\n", "/tmp/x.py");
  check("FileNotFoundError: [Errno 2] No such file or directory: '/tmp/x.py'\n", "/tmp/x.py");
  check("npm error code ENOENT\nnpm error ENOENT: no such file or directory, open '/tmp/d/package.json'\n",
        "/tmp/d/package.json");
  check("sh: 1: cd: can't cd to /tmp/d\n", "/tmp/d");
  check("Error: Cannot find module '/tmp/x.py'\n", "/tmp/x.py");
  check("sh: 1: /tmp/tool: not found\n", "/tmp/tool");
  CHECK(!here.find("sh: 1: tool: not found\n"));
}

TEST_CASE("hint: a relative path may start at another directory than that of the command") {
  world here;
  check_write(here, "touch: cannot touch '../../x': Read-only file system\n", "");
  check_write(here, "touch: cannot touch 'x': Read-only file system\n", "");
  check_write(here, "p: Read-only file system at -e line 1.\n", "");
  CHECK(!here.find("touch: cannot touch '../../x': Read-only file system\n", 0));
  CHECK(!here.find("cat: ../../x: Permission denied\n"));
  check_write(here, "touch: cannot touch 'x': Read-only file system\ntouch: '/etc/y': Read-only file system\n",
              "/etc/y");
  here.present = {"/x"};
  check_write(here, "touch: cannot touch '../../x': Read-only file system\n", "/x");
  here.unwritable = {"/w/sub/x"};
  CHECK(!here.find("touch: cannot touch 'x': Read-only file system\n"));
  const auto is_protected = [&](std::string_view text, const std::string& path) {
    check_write(here, text, path);
    CHECK(here.find(text)->line.find("protected") != std::string::npos);
  };
  is_protected("error: could not write config file .git/config: Device or resource busy\n", "/w/.git/config");
  is_protected("sh: 1: cannot create .git/hooks/x: Read-only file system\n", "/w/.git/hooks/x");
  is_protected("mv: cannot move '.git' to 'g': Device or resource busy\n", "/w/.git");
  CHECK(!here.find("umount: mnt: Device or resource busy\n"));
}

TEST_CASE("hint: unix sockets, where they are denied") {
  world here;
  for (const std::string text : {"Error: listen EPERM: operation not permitted ./s.sock\n",
                                 "Error: connect EPERM /run/docker.sock - Local (undefined:undefined)\n",
                                 "dial unix /run/docker.sock: socket: operation not permitted\n",
                                 "could not create Unix socket: Operation not permitted\n"}) {
    CAPTURE(text);
    const auto found = here.find(text);
    REQUIRE(found.has_value());
    CHECK(found->kind == denied_kind::unix_socket);
    CHECK(found->line == "[isolation] unix sockets are denied in this context (isolation.unix_sockets = deny)");
    CHECK(!here.find(text, 0).has_value());
  }
  for (const std::string text :
       {"ping: socket: Operation not permitted\n", "listen EPERM: operation not permitted 0.0.0.0:80\n",
        "chmod: changing permissions of '/w/x.sock': Operation not permitted\n"}) {
    CAPTURE(text);
    CHECK(!here.find(text).has_value());
  }
  here.settings.setting_name("--writable");
  const std::string text = "dial unix /run/docker.sock: socket: operation not permitted\n";
  CHECK(here.find(text)->line == "[isolation] unix sockets are denied in this context (--unix-sockets)");
  here.plan.unix_sockets = access_rule::allow;
  CHECK(!here.find(text).has_value());
  CHECK(to_string(denied_kind::unix_socket) == "unix_socket");
}

TEST_CASE("hint: no advice that cannot be followed") {
  world here;
  here.settings.writable_roots({"/home/u/nonesuch/", "gone"});
  const auto line_of = [&](const std::string& path) {
    return here.find("touch: cannot touch '" + path + "': Read-only file system\n")->line;
  };
  CHECK(
      line_of("/home/u/nonesuch/x") ==
      "[isolation] write to /home/u/nonesuch/x may have been blocked: /home/u/nonesuch is in isolation.writable_roots, "
      "but was not there when the context was made: it must exist first");
  CHECK(line_of("/home/u/x") ==
        "[isolation] write to /home/u/x may have been blocked: writable roots are /w, /home/u/.cache "
        "(isolation.writable_roots)");
  CHECK(line_of("/x").find("add the directory") == std::string::npos);
  CHECK(line_of("/home/u/y/x").find("add the directory") != std::string::npos);
  CHECK(line_of("/proc/sys/kernel/x") ==
        "[isolation] write to /proc/sys/kernel/x may have been blocked: it is read-only in every context");
}

TEST_CASE("hint: the name of the shell, before the number of a line, is not what could not be written") {
  const world here;
  for (const std::string text :
       {"/bin/sh: 1: cannot create .git: Read-only file system\n", "/bin/bash: line 1: .git: Read-only file system\n",
        "/x/run.sh: line 12: .git: Read-only file system\n"}) {
    CAPTURE(text);
    const auto found = here.find(text, 2, "/w");
    REQUIRE(found.has_value());
    CHECK(found->path == "/w/.git");
    CHECK(found->line.ends_with("it is protected (isolation.protected_paths)"));
  }
  check_write(here, "/etc/x: cannot create: Read-only file system\n", "/etc/x");
  check_write(here, "/bin/sh: 1: cannot create out: Read-only file system\n", "");
}
