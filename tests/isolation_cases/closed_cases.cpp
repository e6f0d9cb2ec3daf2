/// Where no sandbox can be made nothing runs, whatever the reason is, and the reason is named.
#include "isolation/bwrap_failure.hpp"
#include "isolation_cases/case_site.hpp"
#include "isolation_cases/surroundings.hpp"
#include "support/skipping.hpp"

#include <unistd.h>

#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

void check_self(const std::string& shell_text) {
  CAPTURE(shell_text);
  leak_check leaks;
  const self_end got = run_self(shell_text);
  CAPTURE(got.output);
  CHECK(got.code == 0);
  for (const std::string& each : leaks.left_over()) FAIL_CHECK(each);
}

/// A program called bwrap outside of the roots, which is taken.
class other_bwrap {
 public:
  explicit other_bwrap(const std::string& text, fs::perms perms = fs::perms::owner_all)
      : named_("BERTH_BWRAP", folder_ / "bwrap") {
    write_whole_file(folder_ / "bwrap", text);
    fs::permissions(folder_ / "bwrap", perms);
  }

 private:
  temp_dir folder_;
  variable_is named_;
};

/// In namespaces of its own, with what was put before it done there. As another user the bwrap of the system is nobody's there, so
/// that a copy of our own comes first.
std::string apart(const std::string& preparation, const std::string& verb) {
  return "cp /usr/bin/bwrap $TMPDIR/bwrap; export PATH=$TMPDIR:$PATH; unshare -U -r -m sh -c \"" + preparation +
         " && exec $SELF " + verb + "\"";
}

TEST_CASE("isolation, closed: bwrap is not there") {
  if (lacks("bwrap is not there")) return;
  const std::string hidden = "rm $TMPDIR/bwrap && mount --bind /dev/null /usr/bin/bwrap";
  check_self(apart(hidden, "closed 'bwrap is not installed (install bubblewrap)'"));
}

TEST_CASE("isolation, closed: bwrap is others' to write, or cannot be executed") {
  if (lacks("bwrap is others' to write")) return;
  const std::string hidden = "mount --bind /dev/null /usr/bin/bwrap && chmod ";
  check_self(apart(hidden + "777 $TMPDIR/bwrap", "closed 'others may write it'"));
  check_self(apart(hidden + "770 $TMPDIR/bwrap", "closed 'others may write it'"));
  check_self(apart(hidden + "600 $TMPDIR/bwrap", "closed 'it cannot be executed'"));
}

TEST_CASE("isolation, closed: user namespaces are switched off") {
  if (lacks("user namespaces are switched off")) return;
  // The setting belongs to the namespace that was just made.
  check_self(apart("echo 0 >/proc/sys/user/max_user_namespaces", "closed 'max_user_namespaces is 0'"));
}

TEST_CASE("isolation: what this host mounts later is not there to be written") {
  if (lacks("what this host mounts later")) return;
  check_self(apart("mount --make-rshared /", "late"));
}

TEST_CASE("isolation, closed: PATH does not name it: it is found in its usual place") {
  if (lacks("PATH does not name it")) return;
  check_self("PATH=/none; $SELF works");
}

TEST_CASE("isolation, closed: a container forbids mounts") {
  if (lacks("a container forbids mounts")) return;
  check_self("$SELF filtered closed 'this container forbids mounts'");
}

TEST_CASE("isolation, closed: bwrap does nothing, is no program, is killed or talks nonsense") {
  if (lacks("bwrap does nothing")) return;
  for (const std::string text : {"", "#!/none/interpreter\n", "#!/bin/sh\nexit 0\n", "#!/bin/sh\nkill -9 $$\n",
                                 "#!/bin/sh\necho nonsense >&3; echo 'bwrap: nonsense' >&2; exit 3\n",
                                 "#!/bin/sh\nhead -c 100000 /dev/urandom >&3\n"}) {
    CAPTURE(text);
    const other_bwrap broken(text);
    check_self("$SELF closed 'bwrap not usable: '");
  }
}

ASYNC_TEST_FOR("isolation, closed: bwrap hangs", case_patience) {
  if (lacks("bwrap hangs")) co_return;
  const other_bwrap hanging("#!/bin/sh\nexec sleep 275\n");
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  const exec_result got = co_await place.exec(where, command("touch marker"));
  CHECK(got.status.reason() == end_reason::start_failed);
  CHECK(got.status.code() == 127);
  CHECK(got.status.message().find("it did not answer") != std::string::npos);
  CHECK(!fs::exists(site.root() + "/marker"));
  co_await place.destroy(where);
}

ASYNC_TEST_FOR("isolation, closed: this is a sandbox already", case_patience) {
  if (lacks("this is a sandbox already")) co_return;
  if (::access(self_path().c_str(), R_OK | X_OK) != 0) {
    skip("this program cannot be read by the user it runs as");
    co_return;
  }
  const case_site site;
  auto [place, where] = co_await open_site(io, site, sees_sites());
  fs::copy_file("/usr/bin/bwrap", site.root() + "/bwrap");
  command nested(std::vector<std::string>{self_path(), "inside", "closed", "this is a sandbox already"});
  nested.env("TMPDIR", site.root()).env("PATH", site.root() + ":/usr/bin:/bin").merge_stderr();
  const exec_result got = co_await place.exec(where, std::move(nested));
  CAPTURE(got.std_out);
  CHECK(got.ok());
  co_await place.destroy(where);
}

TEST_CASE("isolation: a system that does not execute memory files gets the resident in a file") {
  if (lacks("memory files")) return;
  if (::geteuid() != 0 || !fs::exists("/proc/sys/vm/memfd_noexec")) {
    std::printf("SKIPPED: memory files: vm.memfd_noexec cannot be set here\n");
    return;
  }
  // The setting belongs to the process namespace that was just made.
  check_self("unshare -p -f --mount-proc sh -c \"echo 2 >/proc/sys/vm/memfd_noexec && exec $SELF works\"");
}

TEST_CASE("isolation: where a policy refuses memory files the next command gets the resident in a file") {
  if (lacks("memory files")) return;
  const temp_dir at;
  const std::string images = at / "images";
  const std::string refusing_once =
      "#!/bin/sh\nreadlink /proc/self/fd/6 >>" + images + "\nif [ $(wc -l <" + images +
      ") = 1 ]; then echo 'bwrap: execvp /proc/self/fd/6: Permission denied' >&2; exit 1; "
      "fi\nexec /usr/bin/bwrap \"$@\"\n";
  const other_bwrap wrapper(refusing_once);
  check_self("$SELF works");
  const std::string seen = read_whole_file(images);
  CAPTURE(seen);
  CHECK(seen.starts_with("/memfd:"));
  CHECK(seen.ends_with(" (deleted)\n"));
  CHECK(seen.find("memfd:", seen.find('\n')) == std::string::npos);
}

TEST_CASE("isolation, closed: what AppArmor does is told apart from a missing right") {
  namespace_settings ubuntu;
  ubuntu.apparmor_restricts = true;
  for (const char* each : {"bwrap: setting up uid map: Permission denied\n",
                           "bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted\n"}) {
    const std::string text = explain_bwrap_failure(each, ubuntu);
    CAPTURE(text);
    CHECK(text.starts_with("[isolation] bwrap not usable: "));
    CHECK(text.find("AppArmor restricts user namespaces") != std::string::npos);
    CHECK(text.find("bwrap-userns-restrict") != std::string::npos);
    CHECK(text.find("install bubblewrap") == std::string::npos);
    CHECK(text.ends_with("; command was not run"));
  }
}

TEST_CASE("isolation, closed: root in a directory that only another user may enter is told what helps") {
  const std::string text = explain_bwrap_failure("bwrap: Can't find source path /home/u/p: Permission denied\n", {});
  CAPTURE(text);
  CHECK(text.find("run this as that user") != std::string::npos);
  CHECK(explain_bwrap_failure("bwrap: Can't find source path /none: No such file or directory\n", {}).find("(") ==
        std::string::npos);
  if (::geteuid() != 0 || lacks("another user's directory")) return;
  const temp_dir at;
  fs::create_directory(at / "p");
  REQUIRE(::chown(at.path().c_str(), 65534, 65534) == 0);
  fs::permissions(at.path(), fs::perms::owner_all);
  check_self("TMPDIR=" + (at / "p") + " $SELF closed 'run this as that user'");
}

TEST_CASE("isolation, closed: a complaint with control characters is shown without them") {
  const std::string text = explain_bwrap_failure("bwrap: Can't find /a\x1b[31mb\x07: gone\n", {});
  CHECK(text.find("/a?[31mb?: gone") != std::string::npos);
}

}  // namespace
}  // namespace berth::test
