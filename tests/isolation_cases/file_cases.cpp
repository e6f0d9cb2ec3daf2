/// Cases 1-18, 34, 35, 47-52, 59 and 60: what is written, and where roots lie.
#include "isolation_cases/case_site.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

SCRIPT_CASE(1, "a new file outside", "echo x >$OUT/new", refused_outside(read_only))
SCRIPT_CASE(3, "a file outside through a link", "echo x >link", refused_outside(read_only))
SCRIPT_CASE(4, "a file outside through a link to its directory", "echo x >dir/new", refused_outside(read_only))
SCRIPT_CASE(6, "a hard link to a file outside", "ln $OUT/f h", refused_outside("Invalid cross-device link"))
SCRIPT_CASE(7, "a file outside by /proc/self/root", "echo x >/proc/self/root$OUT/f", refused_outside(read_only))
SCRIPT_CASE(8, "remounting / for writing",
            "python3 -c 'from attempt import *; call(\"mount\", 0, b\"/\", 0, 0x1020, 0)'", refused(not_permitted))
SCRIPT_CASE(9, "moving a directory outside", "mv ../outside ../x", refused_outside(read_only))
SCRIPT_CASE(10, "a file in a protected directory", "echo x >.git/hooks/new", refused(read_only))
SCRIPT_CASE(11, "moving a protected directory", "mv .git/hooks .git/h", refused(busy))
SCRIPT_CASE(11, "removing a protected directory", "rm -f .git/hooks/* 2>/dev/null; rmdir .git/hooks", refused(busy))
SCRIPT_CASE(12, "moving what holds a protected directory", "mv .git .g && mkdir -p .git/hooks && echo x >.git/hooks/h",
            refused(busy))
SCRIPT_CASE(13, "unmounting a protected directory",
            "python3 -c 'from attempt import *; call(\"umount2\", b\".git/hooks\", 2)'", refused(not_permitted))
SCRIPT_CASE(14, "the same in namespaces of its own",
            "python3 -c 'from attempt import *; nested(); call(\"umount2\", b\".git/hooks\", 2)'",
            refused(not_permitted))
SCRIPT_CASE(15, "remounting in namespaces of its own",
            "python3 -c 'from attempt import *; nested(); call(\"mount\", 0, b\"/\", 0, 0x1020, 0)'",
            refused(not_permitted))
SCRIPT_CASE(16, "a bind mount in namespaces of its own",
            "mkdir b; python3 -c 'from attempt import *; nested(); call(\"mount\", b\".\", b\"b\", 0, 0x1000, 0)'",
            refused(not_permitted))
SCRIPT_CASE(17, "another root in namespaces of its own",
            "mkdir b; python3 -c 'from attempt import *; nested(); call(\"pivot_root\", b\".\", b\"b\")'",
            refused(not_permitted))
SCRIPT_CASE(18, "namespaces of its own", "python3 -c 'from attempt import *; call(\"unshare\", 0x10020000)'",
            refused(not_permitted))
SCRIPT_CASE(18, "a user namespace by unshare(1)", "unshare -U true", refused(not_permitted))

// Outside of the table: what has no file to write.
SCRIPT_CASE(1, "the mode of a file outside", "chmod 777 $OUT/f", refused_outside(read_only))
SCRIPT_CASE(1, "the times of a file outside", "touch -d yesterday $OUT/f", refused_outside(read_only))
SCRIPT_CASE(1, "removing a file outside", "rm $OUT/f </dev/null", refused_outside(read_only))

/// Tries to make a directory where something is mounted. Those that it could make are removed, and named.
constexpr const char* tries_every_mount = R"(
python3 -c '
import os
own = ("/tmp", "/var/tmp", "/dev", "/proc", "/run/user", "/run/WSL", os.getcwd())
for line in open("/proc/self/mountinfo"):
    at = line.split()[4].encode().decode("unicode_escape")
    if any(at == o or at.startswith(o + "/") for o in own) or not os.path.isdir(at): continue
    try:
        os.mkdir(at + "/berth-test-dir"); os.rmdir(at + "/berth-test-dir"); print("WROTE", at)
    except OSError: pass
' | grep WROTE)";
SCRIPT_CASE(35, "another mount below /", tries_every_mount, refused(""))
SCRIPT_CASE(52, "touch, ln, mv and mkfifo in a root",
            "touch t && ln t u && mv t v && mkfifo p && mkdir d && rm -r u v p d", works())

ASYNC_TEST_FOR("isolation 2: what is written in a root is there, as the caller's", case_patience) {
  if (lacks("isolation 2")) co_return;
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command("echo hi >a"));
  CHECK(got.ok());
  CHECK(read_whole_file(site.root() + "/a") == "hi\n");
  struct stat about {};
  CHECK(::stat((site.root() + "/a").c_str(), &about) == 0);
  CHECK(about.st_uid == ::geteuid());
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 5: a limit: a hard link that was there before is written through", case_patience) {
  if (lacks("isolation 5")) co_return;
  const case_site site;
  fs::create_hard_link(site.outside() + "/f", site.root() + "/h");
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command("echo new >h"));
  CHECK(got.ok());
  CHECK(read_whole_file(site.outside() + "/f") == "new\n");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 34: /tmp is private and kept between commands, or the host's and read-only", case_patience) {
  if (lacks("isolation 34")) co_return;
  const case_site site;
  const std::string name = "berth-case-34-" + std::to_string(::getpid());
  {
    auto [place, where] = co_await open_site(io, site);
    exec_result got = co_await place.exec(where, command("echo hi >/tmp/" + name + " && mktemp"));
    CHECK(got.ok());
    got = co_await place.exec(where, command("cat /var/tmp/" + name));
    CHECK(got.std_out == "hi\n");
    co_await place.destroy(where);
  }
  CHECK(!fs::exists("/tmp/" + name));
  auto [place, where] = co_await open_site(io, site, sees_sites());
  const exec_result got = co_await place.exec(where, command("echo hi >/tmp/" + name));
  CHECK(got.std_err.find(read_only) != std::string::npos);
  CHECK(!fs::exists("/tmp/" + name));
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 47: a missing root is left out; a working directory that went is 127", case_patience) {
  if (lacks("isolation 47")) co_return;
  const case_site site;
  const isolation_settings settings = isolation_settings().writable_roots({site.root() + "/../none"});
  auto [place, where] = co_await open_site(io, site, settings);
  exec_result got = co_await place.exec(where, command("echo runs"));
  CHECK(got.std_out == "runs\n");
  CHECK(!fs::exists(site.root() + "/../none"));
  got = co_await place.exec(where, command("echo ran").cwd("none"));
  CHECK(got.status.reason() == end_reason::start_failed);
  CHECK(got.std_out == "");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 48: a root that is a file is written, and not replaced", case_patience) {
  if (lacks("isolation 48")) co_return;
  const case_site site;
  const isolation_settings settings = sees_sites().writable_roots({site.outside() + "/f"});
  auto [place, where] = co_await open_site(io, site, settings);
  exec_result got = co_await place.exec(where, command("echo new >$OUT/f"));
  CHECK(got.ok());
  CHECK(read_whole_file(site.outside() + "/f") == "new\n");
  got = co_await place.exec(where, command("sed -i s/new/newer/ $OUT/f"));
  CHECK(!got.ok());
  CHECK(got.std_err.find(read_only) != std::string::npos);
  CHECK(read_whole_file(site.outside() + "/f") == "new\n");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 49: a root that is a link is the directory that it leads to", case_patience) {
  if (lacks("isolation 49")) co_return;
  const case_site site;
  const temp_dir beside;
  fs::create_directory_symlink(site.outside(), beside / "dir");
  const isolation_settings settings = sees_sites().writable_roots({beside / "dir"});
  auto [place, where] = co_await open_site(io, site, settings);
  const exec_result got = co_await place.exec(where, command("echo x >$OUT/a && echo y >$OUT/b"));
  CHECK(got.std_err == "");
  CHECK(read_whole_file(site.outside() + "/a") == "x\n");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 50: / is a root where that is said outright, and /proc and /dev stay covered",
               case_patience) {
  if (lacks("isolation 50")) co_return;
  const case_site site;
  isolation_settings settings = sees_sites().writable_roots({"/"});
  std::error_code code;
  try {
    auto refused_site = co_await open_site(io, site, settings);
  } catch (const error& failure) {
    code = failure.code();
  }
  CHECK(code == errc::invalid_argument);
  settings.allow_wide_roots();
  auto [place, where] = co_await open_site(io, site, settings);
  exec_result got = co_await place.exec(where, command("echo x >$OUT/new; echo x >.git/config"));
  CHECK(read_whole_file(site.outside() + "/new") == "x\n");
  CHECK(got.std_err.find(read_only) != std::string::npos);
  got = co_await place.exec(
      where, command("v=$(cat /proc/sys/kernel/core_pattern); echo \"$v\" >/proc/sys/kernel/core_pattern"));
  CHECK(!got.ok());
  got = co_await place.exec(where, command("ls /dev/shm | wc -l; ls -d /proc/[0-9]* | wc -l"));
  CHECK(std::atoi(got.std_out.c_str()) == 0);
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 51: a root below /tmp is seen in a private /tmp, and what lies beside it is not",
               case_patience) {
  if (lacks("isolation 51")) co_return;
  const case_site site;
  if (!site.root().starts_with("/tmp/")) co_return;
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command("pwd; echo x >a; ls $OUT 2>&1"));
  CHECK(got.std_out.starts_with(site.root() + "\n"));
  CHECK(got.std_out.find("No such file") != std::string::npos);
  CHECK(read_whole_file(site.root() + "/a") == "x\n");
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 59: a link that was planted where a mount comes to lie makes nothing outside",
               case_patience) {
  if (lacks("isolation 59")) co_return;
  const case_site site;
  // CVE-2026-87766: bwrap before 0.12 followed it, for a protected path below that is missing.
  fs::create_directory_symlink("/oldroot" + site.outside() + "/new", site.root() + "/x");
  const isolation_settings settings = sees_sites().protected_paths({"x/below", "x", ".git/hooks"});
  auto [place, where] = co_await open_site(io, site, settings);
  const std::string before = site.untouchable();
  const exec_result got = co_await place.exec(where, command("echo runs; mkdir -p x/below"));
  CHECK(got.std_out == "runs\n");
  CHECK(site.untouchable() == before);
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation 60: nothing is left in the tree for a protected path that is missing", case_patience) {
  if (lacks("isolation 60")) co_return;
  const case_site site;
  fs::remove_all(site.root() + "/.git");
  const isolation_settings settings = isolation_settings().protected_paths({".git/hooks", ".git/config", ".envrc"});
  auto [place, where] = co_await open_site(io, site, settings);
  const exec_result got = co_await place.exec(where, command("ls -A"));
  CHECK(got.std_out == "attempt.py\ndir\nlink\n");
  CHECK(!fs::exists(site.root() + "/.git"));
  CHECK(!fs::exists(site.root() + "/.envrc"));
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
