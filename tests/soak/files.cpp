/// Writers that are killed, and readers: `soak_files [ROUNDS]`, 1000 by default. Each round is a test case.
#define DOCTEST_CONFIG_IMPLEMENT
#include "soak/file_rounds.hpp"

#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  int rounds = 1000;
  for (int i = 1; i < argc; ++i) {
    const int asked = std::atoi(argv[i]);
    if (asked > 0) rounds = asked;
  }
  const berth::test::temp_dir directory;
  berth::test::file_rounds seen;
  int failed = 0;
  for (int number = 0; number < rounds; ++number) {
    const auto wrong = berth::test::kill_a_writer(directory.path(), number, seen);
    if (wrong.empty()) continue;
    ++failed;
    std::printf("FAILED: round %d: %s", number, wrong.c_str());
    std::fflush(stdout);
  }
  std::printf("%zu reads, %zu contents, %zu temporary names left by killed writers\n", seen.reads, seen.contents,
              seen.temporary);
  std::printf("[doctest] test cases: %d | %d passed | %d failed | 0 skipped\n", rounds, rounds - failed, failed);
  return failed == 0 ? 0 : 1;
}
