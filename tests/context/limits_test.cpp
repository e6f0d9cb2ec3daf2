#include "fake_world.hpp"

#include "context/run_state.hpp"

#include <berth/error.hpp>
#include <berth/limits.hpp>

#include <doctest/doctest.h>

#include <csignal>

using namespace berth;
using namespace berth::test;

namespace {

std::string refusal(const resource_limits& limits) {
  try {
    limits.validate();
  } catch (const error& caught) {
    return caught.code() == errc::invalid_argument ? caught.message() : "another error";
  }
  return "valid";
}

/// What a command with these limits is said to have ended by.
limit_kind behind(resource_limits limits, exit_status status, std::chrono::microseconds used = 0s) {
  const auto now = run_state::clock::time_point(1h);
  run_state state(command("x").limits(limits), now);
  process_exited end;
  end.status = std::move(status);
  end.usage.user_time = used / 2;
  end.usage.system_time = used - used / 2;
  (void)state.take(std::move(end), now);
  return state.status().limit();
}

limit_kind after_kill(resource_limits limits, end_reason reason) {
  const auto now = run_state::clock::time_point(1h);
  run_state state(command("x").limits(limits), now);
  state.kill_sent(reason, 0ms, now, false);
  process_exited end;
  end.status = exit_status::signaled(SIGKILL);
  end.usage.user_time = 10s;
  (void)state.take(std::move(end), now);
  return state.status().limit();
}

}  // namespace

TEST_CASE("limits: validate names what cannot be") {
  CHECK(refusal(resource_limits()) == "valid");
  CHECK(refusal(resource_limits().cpu_time(0s)) == "limits: cpu_time must be at least 1 s");
  CHECK(refusal(resource_limits().cpu_time(-1s)) == "limits: cpu_time must be at least 1 s");
  CHECK(refusal(resource_limits().memory(0)) == "limits: memory must be greater than 0");
  CHECK(refusal(resource_limits().processes(0)) == "limits: processes must be greater than 0");
  CHECK(refusal(resource_limits().open_files(2)) == "limits: open_files must be at least 3, for the standard streams");
  CHECK(refusal(resource_limits().nice(20)) == "limits: nice must lie between -20 and 19");
  CHECK(refusal(resource_limits().nice(-21)) == "limits: nice must lie between -20 and 19");
  CHECK(refusal(resource_limits().file_size(0)) == "valid");
  CHECK(refusal(resource_limits().cpu_time(1s).memory(1).processes(1).open_files(3).nice(19)) == "valid");
}

TEST_CASE("limits: a command's come before the handle's, one by one") {
  const resource_limits handle =
      resource_limits().memory(1).cpu_time(2s).file_size(3).processes(4).open_files(5).nice(6);
  const resource_limits own = resource_limits().cpu_time(20s).nice(0);
  const resource_limits both = own.over(handle);
  CHECK(both.memory() == 1u);
  CHECK(both.cpu_time() == 20s);
  CHECK(both.file_size() == 3u);
  CHECK(both.processes() == 4u);
  CHECK(both.open_files() == 5u);
  CHECK(both.nice() == 0);
  CHECK(resource_limits().empty());
  CHECK_FALSE(resource_limits().nice(0).empty());
}

TEST_CASE("limits: processor time is told by its signal, by KILL once it is used up, and through a shell") {
  const auto second = resource_limits().cpu_time(1s);
  CHECK(behind(second, exit_status::signaled(SIGXCPU), 1s) == limit_kind::cpu_time);
  CHECK(behind(second, exit_status::exited(128 + SIGXCPU), 1s) == limit_kind::cpu_time);
  CHECK(behind(second, exit_status::signaled(SIGXCPU), 600ms) == limit_kind::cpu_time);  // a busy machine
  CHECK(behind(second, exit_status::signaled(SIGXCPU), 400ms) == limit_kind::none);
  CHECK(behind(second, exit_status::exited(128 + SIGXCPU)) == limit_kind::none);
  CHECK(behind(second, exit_status::signaled(SIGKILL), 2s) == limit_kind::cpu_time);
  CHECK(behind(second, exit_status::exited(128 + SIGKILL), 2s) == limit_kind::cpu_time);
  CHECK(behind(second, exit_status::signaled(SIGKILL), 100ms) == limit_kind::none);
  CHECK(behind(second, exit_status::exited(0), 2s) == limit_kind::none);
  CHECK(behind(second, exit_status::signaled(SIGTERM), 2s) == limit_kind::none);
  CHECK(behind(resource_limits(), exit_status::signaled(SIGXCPU)) == limit_kind::none);
}

TEST_CASE("limits: file size is told by its signal, memory by an out-of-memory kill") {
  const auto file = resource_limits().file_size(1);
  CHECK(behind(file, exit_status::signaled(SIGXFSZ)) == limit_kind::file_size);
  CHECK(behind(file, exit_status::exited(128 + SIGXFSZ)) == limit_kind::file_size);
  CHECK(behind(file, exit_status::exited(1)) == limit_kind::none);
  CHECK(behind(resource_limits(), exit_status::signaled(SIGXFSZ)) == limit_kind::none);
  CHECK(behind(resource_limits(), exit_status(end_reason::oom_killed, 137, SIGKILL)) == limit_kind::memory);
}

TEST_CASE("limits: what the backend saw is told where no signal says otherwise") {
  exit_status refused = exit_status::exited(2);
  refused.limit(limit_kind::processes);
  CHECK(behind(resource_limits().processes(3).cpu_time(9s), refused) == limit_kind::processes);
  exit_status slow = exit_status::signaled(SIGXCPU);
  slow.limit(limit_kind::processes);
  CHECK(behind(resource_limits().processes(3).cpu_time(1s), slow, 1s) == limit_kind::cpu_time);
}

TEST_CASE("limits: a command that we ended ourselves was ended by no limit") {
  CHECK(after_kill(resource_limits().cpu_time(1s), end_reason::timed_out) == limit_kind::none);
  CHECK(after_kill(resource_limits().cpu_time(1s), end_reason::cancelled) == limit_kind::none);
}

ASYNC_TEST("limits: a backend that has none refuses them, of a command and of a handle") {
  const auto world = co_await fake_world::make(io);
  const auto limits = resource_limits().nice(1);
  std::error_code refused = co_await code_of(world->exec(command("x").limits(limits)));
  CHECK(refused == errc::unsupported);
  refused = co_await code_of(world->place->spawn(spawn_options().limits(limits)));
  CHECK(refused == errc::unsupported);
  refused = co_await code_of(world->exec(command("x").terminal(80, 24)));
  CHECK(refused == errc::unsupported);
}

ASYNC_TEST("limits: a handle's reach every command, and what cannot be is refused for both") {
  const auto world = co_await fake_world::make(io);
  world->backend->abilities.limits = true;
  world->script([](fake_run& run) { run.exit().end_streams(); });
  const auto of_handle = resource_limits().open_files(64).nice(1);
  world->at = co_await world->place->spawn(spawn_options().limits(of_handle));
  const auto own = resource_limits().nice(2);
  auto result = co_await world->exec(command("x").limits(own));
  CHECK(world->run().what.limits().open_files() == 64u);
  CHECK(world->run().what.limits().nice() == 2);
  result = co_await world->exec("x");
  CHECK(world->run().what.limits().nice() == 1);
  const auto bad = resource_limits().memory(0);
  std::error_code refused = co_await code_of(world->exec(command("x").limits(bad)));
  CHECK(refused == errc::invalid_argument);
  refused = co_await code_of(world->place->spawn(spawn_options().limits(bad)));
  CHECK(refused == errc::invalid_argument);
}
