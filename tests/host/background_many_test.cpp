/// Many background commands at once; `./dev soak background` has a thousand.
#include "host/host_world.hpp"
#include "soak/background_rounds.hpp"

namespace berth::test {
namespace {

ASYNC_TEST_FOR("host: 300 background commands at once have exact logs and cost no descriptors and little memory",
               240s) {
  background_crowd wanted;
  wanted.commands = 300;
  const crowd_seen seen = co_await run_crowd(io, wanted);
  CHECK_MESSAGE(seen.exact == 300, seen.first_wrong);
  CHECK(seen.descriptors < 16);
#ifndef __SANITIZE_ADDRESS__
  CHECK(seen.held_each <= 16 * 1024);
#endif
}

}  // namespace
}  // namespace berth::test
