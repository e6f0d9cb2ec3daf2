#include "cli/program.hpp"
#include "support/temp_dir.hpp"

#include <csignal>
#include <filesystem>

using namespace berth::test;

namespace {

/// Runs with a home whose profile is this.
program_end with_profile(const temp_dir& home, const std::string& profile, const std::string& arguments) {
  write_whole_file(home / ".profile", profile);
  return shell_ends("HOME='" + home.path().string() + "' OUTER=o exec \"$0\" exec " + arguments + " </dev/null");
}

}  // namespace

TEST_CASE("exec environment: a clean one has nothing but what is given") {
  nothing_left guard;
  const auto none = berth_ends({"exec", "--clean-env", "/usr/bin/env", "-u", "X"});
  CHECK(none.code == 0);
  CHECK(none.out == "");
  const auto some = shell_ends("A=1 \"$0\" exec --clean-env -e A -e B=2 --unset-env A -- /usr/bin/env -u X");
  CHECK(some.out == "A=1\nB=2\n");
}

TEST_CASE("exec environment: names and prefixes are inherited") {
  const auto done =
      shell_ends("A=1 AB=2 L_A=3 L_B=4 \"$0\" exec --inherit-env A --inherit-env 'L_*' --clean-env -- env -u X | sort");
  CHECK(done.out == "A=1\nL_A=3\nL_B=4\n");
  for (const char* name : {"", "A=B", "A*B"}) {
    CAPTURE(name);
    const auto refused = berth_ends({"exec", "--inherit-env", name, "true"});
    CHECK(refused.code == 125);
    CHECK(refused.err.find("berth: exec: --inherit-env: ") == 0);
    CHECK(count_lines(refused.err) == 1);
  }
}

TEST_CASE("exec environment: the login shell is asked in the directory of the command") {
  nothing_left guard;
  const temp_dir home;
  const auto done = with_profile(home, "echo noise; export SEEN=\"$PWD\" OUTER=changed\n",
                                 "--login-env --cwd / -e LAST=l 'echo $SEEN $OUTER $LAST; pwd'");
  CHECK(done.code == 0);
  CHECK(done.out == "/ changed l\n/\n");
  CHECK(done.err == "");
}

TEST_CASE("exec environment: a login shell that fails is told, and the command runs") {
  nothing_left guard;
  const temp_dir home;
  const auto done = with_profile(home, "exit 9\n", "--login-env 'echo $OUTER; exit 4'");
  CHECK(done.code == 4);
  CHECK(done.out == "o\n");
  CHECK(done.err.find("berth: exec: login environment: ") == 0);
  CHECK(count_lines(done.err) == 1);
}

TEST_CASE("exec environment: control C while the login shell is asked ends us and the shell, and nothing runs") {
  nothing_left guard;
  const temp_dir home;
  write_whole_file(home / ".profile", "trap '' INT TERM; : >\"$HOME/asked\"; sleep 300; sleep 300\n");
  auto berth = program::shell("HOME='" + home.path().string() + "' exec \"$0\" exec --login-env 'echo ran'");
  CHECK(eventually([&] { return std::filesystem::exists(home / "asked"); }));
  berth.signal(SIGINT);
  const auto done = berth.end();
  CHECK(done.code == -SIGINT);
  CHECK(done.out == "");
}
