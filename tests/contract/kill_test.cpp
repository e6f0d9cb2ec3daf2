/// A few rounds of what the soak `kill` repeats for long.
#include "soak/owner_rounds.hpp"
#include "soak/place_rounds.hpp"

#include <doctest/doctest.h>

#include <string>

namespace berth::test {
namespace {

TEST_SUITE_BEGIN("kill");

void three_rounds(std::string (*round)(int number)) {
  for (int number = 1; number <= 3; ++number) {
    const std::string wrong = round(number);
    CHECK(wrong == "");
  }
}

TEST_CASE("an owner that is killed leaves no process") { three_rounds(owner_killed); }
TEST_CASE("an owner that is killed while it starts leaves no process") { three_rounds(owner_killed_while_starting); }
TEST_CASE("an owner that forked without exec and is killed leaves no process") {
  three_rounds(owner_forked_and_killed);
}
TEST_CASE("a deadline of 20 commands leaves no process") { three_rounds(ended_by_deadline); }
TEST_CASE("20 cancelled commands leave no process") { three_rounds(ended_by_cancel); }
TEST_CASE("20 killed commands leave no process") { three_rounds(ended_by_kill); }
TEST_CASE("20 dropped processes leave no process") { three_rounds(ended_by_drop); }
TEST_CASE("a handle that is destroyed beside 20 commands leaves no process") { three_rounds(ended_by_destroy); }
TEST_CASE("a context that ends beside 20 commands leaves no process") { three_rounds(ended_by_end_of_context); }
TEST_CASE("a resident that is killed leaves no process") { three_rounds(resident_killed); }
TEST_CASE("a resident that is stopped goes on") { three_rounds(resident_stopped); }
TEST_CASE("a resident that its command kills leaves no process") { three_rounds(resident_killed_by_a_command); }
TEST_CASE("a resident that its command stops goes on") { three_rounds(resident_stopped_by_a_command); }

TEST_SUITE_END();

}  // namespace
}  // namespace berth::test
