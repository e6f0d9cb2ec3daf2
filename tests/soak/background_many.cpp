/// Many background commands at once in an owner with 1024 descriptors: `soak_background [COMMANDS]`, 1000 by default.
#define DOCTEST_CONFIG_IMPLEMENT
#include "soak/background_rounds.hpp"

#include <doctest/doctest.h>
#include <asio/co_spawn.hpp>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace {

constexpr std::size_t most_held = 16 * 1024;

berth::task<void> keep(asio::io_context& io, berth::test::background_crowd wanted, berth::test::crowd_seen& into) {
  into = co_await berth::test::run_crowd(io, wanted);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

int main(int argc, char** argv) {
  berth::test::background_crowd wanted;
  wanted.for_good = true;
  for (int i = 1; i < argc; ++i) {
    const int asked = std::atoi(argv[i]);
    if (asked > 0) wanted.commands = asked;
  }
  berth::test::crowd_seen seen;
  asio::io_context io(1);
  asio::co_spawn(io, keep(io, wanted, seen), rethrow);
  io.run();
  const bool small = seen.held_each <= most_held;
  const bool few = seen.descriptors < 16;
  if (!seen.first_wrong.empty()) std::printf("FAILED: command %s\n", seen.first_wrong.c_str());
  if (!small) std::printf("FAILED: more than %zu bytes held for each\n", most_held);
  if (!few) std::printf("FAILED: descriptors taken\n");
  std::printf("%d of %d logs exact; %zu bytes of heap held for each, %zu descriptors for all\n", seen.exact,
              wanted.commands, seen.held_each, seen.descriptors);
  const int passed = seen.exact + (small ? 1 : 0) + (few ? 1 : 0);
  const int cases = wanted.commands + 2;
  std::printf("[doctest] test cases: %d | %d passed | %d failed | 0 skipped\n", cases, passed, cases - passed);
  return passed == cases ? 0 : 1;
}
