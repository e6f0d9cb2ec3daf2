/// Many rounds of every way in which running commands must end: `soak_kill [ROUNDS] [NAME]`, 200 by default, of all or of those
/// whose name holds NAME. Each round is a test case.
#define DOCTEST_CONFIG_IMPLEMENT
#include "soak/kill_rounds.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

int rounds_asked(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const int number = std::atoi(argv[i]);
    if (number > 0) return number;
  }
  return 200;
}

std::string_view name_asked(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-' && std::atoi(argv[i]) == 0) return argv[i];
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = rounds_asked(argc, argv);
  int passed = 0, failed = 0;
  for (const auto& scenario : berth::test::kill_scenarios()) {
    if (std::string_view(scenario.name).find(name_asked(argc, argv)) == std::string_view::npos) continue;
    int wrong_rounds = 0;
    for (int number = 0; number < rounds; ++number) {
      const std::string wrong = scenario.round(number);
      if (wrong.empty()) continue;
      ++wrong_rounds;
      std::printf("FAILED: %s, round %d:\n%s", scenario.name, number, wrong.c_str());
    }
    std::printf("%s: %d of %d rounds left nothing\n", scenario.name, rounds - wrong_rounds, rounds);
    std::fflush(stdout);
    passed += rounds - wrong_rounds;
    failed += wrong_rounds;
  }
  std::printf("[doctest] test cases: %d | %d passed | %d failed | 0 skipped\n", passed + failed, passed, failed);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
