/// What a context says it can, it does; what it says it cannot, it refuses as unsupported, and nothing happened.
#include "contract/contract.hpp"

#include "support/skipping.hpp"

#include <signal.h>

#include <filesystem>

namespace berth::contract {
namespace {

std::error_code code_of_signal(process& target, int signo) {
  try {
    target.signal(signo);
  } catch (const error& failure) {
    return failure.code();
  }
  return {};
}

task<void> signals(context& place, handle where) {
  const command waits = command("echo ready; read line; exit 3").input_stream();
  process running = co_await place.exec_stream(where, waits);
  const std::string seen = co_await read_until(running, "ready\n");
  CHECK(seen == "ready\n");
  CHECK(code_of_signal(running, 0) == errc::invalid_argument);
  if (place.can().signals) {
    CHECK_FALSE(code_of_signal(running, SIGKILL));
    const exit_status status = co_await running.wait();
    CHECK(status == exit_status::signaled(SIGKILL));
  } else {
    CHECK(code_of_signal(running, SIGKILL) == errc::unsupported);
    co_await running.write("go on\n");
    const exit_status status = co_await running.wait();
    CHECK(status == exit_status::exited(3));
  }
  CHECK_FALSE(code_of_signal(running, SIGKILL));
}

task<void> signals_of_what_is_kept(context& place, handle where) {
  background one = co_await place.exec_background(where, "sleep 60");
  if (place.can().signals) {
    one.signal(SIGKILL);
    const exit_status status = co_await one.wait();
    CHECK(status == exit_status::signaled(SIGKILL));
    co_return;
  }
  CHECK_THROWS_AS(one.signal(SIGKILL), error);
  CHECK_FALSE(one.status().has_value());
  if (!place.can().terminals) {
    skip("this place has no terminals");
    co_return;
  }
  terminal open = co_await place.open_terminal(where);
  CHECK_THROWS_AS(open.signal(SIGKILL), error);
  co_await open.write("exit 4\n");
  const exit_status status = co_await open.exited();
  CHECK(status == exit_status::exited(4));
}

task<void> limits(context& place, handle where) {
  const auto few = resource_limits().open_files(64);
  const command counts = command("ulimit -n; : >ran").limits(few);
  if (place.can().limits) {
    const exec_result result = co_await place.exec(where, counts);
    CHECK(result.std_out == "64\n");
    co_return;
  }
  std::error_code code = co_await failure_of(place.exec(where, counts));
  CHECK(code == errc::unsupported);
  code = co_await failure_of(place.exec_stream(where, counts));
  CHECK(code == errc::unsupported);
  code = co_await failure_of(place.exec_background(where, counts));
  CHECK(code == errc::unsupported);
  code = co_await failure_of(place.spawn(spawn_options().limits(few)));
  CHECK(code == errc::unsupported);
  CHECK_FALSE(std::filesystem::exists(where.cwd() + "/ran"));
  CHECK(place.handles().size() == 1);
}

task<void> trees(context& place, handle where) {
  const exec_result result = co_await place.exec(where, command("echo pids $$; exec sleep 60").timeout(1s).grace(0ms));
  CHECK(result.status.reason() == end_reason::timed_out);
  const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
  if (place.can().kills_tree) {
    CHECK(result.survivors.empty());
    CHECK(alive_among(pids).empty());
  } else {
    REQUIRE(result.survivors.size() == 1);
    CHECK(result.survivors.front().pid == pids.front());  // as the daemon's host calls it, which is this one
    CHECK_FALSE(result.status.message().empty());
  }
}

task<void> leftovers(context& place, handle where) {
  const command leaves = command(": >ran; sleep 60 >/dev/null 2>&1 & echo pids $!").end_leftovers().grace(0ms);
  if (place.can().kills_tree) {
    const exec_result result = co_await place.exec(where, leaves);
    const std::vector<pid_t> pids = co_await pids_said(place, where, result.std_out);
    CHECK(alive_among(pids).empty());
    co_return;
  }
  std::error_code code = co_await failure_of(place.exec(where, leaves));
  CHECK(code == errc::unsupported);
  code = co_await failure_of(place.exec_stream(where, leaves));
  CHECK(code == errc::unsupported);
  code = co_await failure_of(place.exec_background(where, leaves));
  CHECK(code == errc::unsupported);
  CHECK(place.backgrounds(where).empty());
  CHECK_FALSE(std::filesystem::exists(where.cwd() + "/ran"));
}

task<void> ports(context& place, handle where) {
  process running = co_await place.exec_stream(where, command("read line").input_stream());
  if (place.can().lists_ports) {
    const std::vector<std::uint16_t> none = co_await running.ports();
    CHECK(none.empty());
  } else {
    const std::error_code code = co_await failure_of(running.ports());
    CHECK(code == errc::unsupported);
  }
  co_await running.write("go on\n");
  const exit_status status = co_await running.wait();
  CHECK(status.ok());
}

task<void> watches(context& place, handle where) {
  const std::error_code code = co_await failure_of(place.watch(where, "."));
  CHECK(code == (place.can().watches_files ? std::error_code() : errc::unsupported));
}

task<void> usage(context& place, handle where) {
  const exec_result result = co_await place.exec(where, "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
  CHECK((result.usage.user_time.count() > 0) == place.can().reports_usage);
  CHECK((result.usage.max_rss_bytes > 0) == place.can().reports_usage);
  CHECK(result.wall_time.count() > 0);
}

constexpr contract_case capability_table[] = {
    {"capabilities: a signal is sent, or refused as unsupported and the command goes on", signals},
    {"capabilities: the same of background commands and terminals", signals_of_what_is_kept},
    {"capabilities: limits are set, or refused as unsupported before anything ran", limits},
    {"capabilities: what a deadline cannot end is named", trees},
    {"capabilities: leftovers are ended, or that is refused as unsupported before anything ran", leftovers},
    {"capabilities: ports are told, or refused as unsupported", ports},
    {"capabilities: files are watched, or that is refused as unsupported", watches},
    {"capabilities: usage is told, or all of it is 0", usage},
};

}  // namespace

std::span<const contract_case> capability_cases() { return capability_table; }

}  // namespace berth::contract
