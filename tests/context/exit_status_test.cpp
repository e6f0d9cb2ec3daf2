#include <berth/exit_status.hpp>

#include <doctest/doctest.h>

using namespace berth;

TEST_CASE("exit_status: one made by default is unknown, and not a success") {
  const exit_status status;
  CHECK(status.reason() == end_reason::unknown);
  CHECK(status.code() == 125);
  CHECK(!status.ok());
}

TEST_CASE("exit_status: codes are those of a shell") {
  CHECK(exit_status::exited(3).code() == 3);
  CHECK(exit_status::signaled(9).code() == 137);
  CHECK(exit_status::signaled(9).signal() == 9);
  CHECK(exit_status::start_failed(127, "x").code() == 127);
  CHECK(exit_status::lost("x").code() == 125);
}

TEST_CASE("exit_status: only a command that exited with 0 is ok") {
  CHECK(exit_status::exited(0).ok());
  CHECK(!exit_status::exited(1).ok());
  CHECK(!exit_status(end_reason::cancelled, 0).ok());
}

TEST_CASE("exit_status: described in one line") {
  CHECK(describe(exit_status::exited(3)) == "exited with 3");
  CHECK(describe(exit_status::signaled(9)) == "signal 9 (KILL)");
  CHECK(describe(exit_status::signaled(40)) == "signal 40 (unnamed)");
  CHECK(describe(exit_status(end_reason::timed_out, 124, 15)) == "timed out; ended by TERM (signal 15)");
  CHECK(describe(exit_status(end_reason::cancelled, 143)) == "cancelled");
  CHECK(describe(exit_status(end_reason::oom_killed, 137, 9)) == "killed for want of memory");
  CHECK(describe(exit_status::start_failed(127, "exec: no such file")) == "could not be started: exec: no such file");
  CHECK(describe(exit_status::lost("reset")) == "contact was lost: reset");
  CHECK(describe(exit_status::lost("lost: reset")) == "contact was lost: reset");
}

TEST_CASE("exit_status: a reason has a word") {
  CHECK(to_string(end_reason::exited) == "exited");
  CHECK(to_string(end_reason::idle_timed_out) == "idle_timed_out");
  CHECK(to_string(end_reason::unknown) == "unknown");
}
