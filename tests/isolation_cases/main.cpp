/// The main function of this runner: as who we are, with --as-user as a user that no user database knows, or `inside` of something.
#define DOCTEST_CONFIG_IMPLEMENT
#include "isolation_cases/surroundings.hpp"

#include <doctest/doctest.h>
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr uid_t unknown_user = 64321;

bool become_user() {
  // Directories of root would be in the way.
  setenv("HOME", "/nonexistent", 1);
  unsetenv("TMPDIR");
  unsetenv("XDG_RUNTIME_DIR");
  if (::setgroups(0, nullptr) != 0 || ::setresgid(unknown_user, unknown_user, unknown_user) != 0) return false;
  if (::setresuid(unknown_user, unknown_user, unknown_user) != 0) return false;
  // Else this process could not look at itself in /proc any more.
  return ::prctl(PR_SET_DUMPABLE, 1) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view word = argc > 1 ? argv[1] : "";
  // Without the end of a process: whoever made the surroundings may have taken what that needs.
  if (word == "inside") ::_exit(berth::test::run_inside({argv + 2, argv + argc}));
  if (word == "--as-user") {
    if (::geteuid() != 0) {
      std::printf(
          "[doctest] test cases: 0 | 0 passed | 0 failed | 0 skipped: no root, so isolation-cases is this already\n");
      return 0;
    }
    if (!become_user()) {
      std::perror("another user");
      return 1;
    }
  }
  doctest::Context context(argc, argv);
  return context.run();
}
