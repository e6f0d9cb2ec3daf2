/// Background commands: their keys, lists and ends.
#include "contract/contract.hpp"

#include <signal.h>

#include <algorithm>
#include <filesystem>

namespace berth::contract {
namespace {

using output_stream::std_out;

/// Reads "pids N N N" from the log of a command that prints it first.
task<std::vector<pid_t>> logged_pids(context& place, handle where, background from) {
  const auto line = co_await from.wait_for_output(output_pattern::regex("pids.*[0-9]$"), 10s);
  REQUIRE(line.has_value());
  // The line may have been longer.
  std::string text;
  while (text.find('\n') == std::string::npos) {
    const log_piece piece = co_await from.follow(std_out, line->offset() + text.size());
    text += piece.bytes();
  }
  co_return co_await pids_said(place, where, text);
}

task<void> key_starts_once(context& place, handle where) {
  const command server = command("echo x >>starts; sleep 60").key("server");
  background one = co_await place.exec_background(where, server);
  background two = co_await place.exec_background(where, server);
  CHECK(one.pid() == two.pid());
  CHECK(two.id() == "server");
  co_await file_appears(where.cwd() + "/starts");
  co_await one.kill();
  background three = co_await place.exec_background(where, server);
  CHECK(three.status().has_value());
  const exec_result starts = co_await place.exec(where, "cat starts");
  CHECK(starts.std_out == "x\n");
}

task<void> forgotten(context& place, handle where) {
  const command server = command("echo x >>starts; sleep 60").key("server");
  background one = co_await place.exec_background(where, server);
  CHECK_THROWS_AS(one.forget(), error);
  co_await one.kill();
  one.forget();
  CHECK(place.backgrounds(where).empty());
  background two = co_await place.exec_background(where, server);
  CHECK(two.pid() != one.pid());
  CHECK_FALSE(two.status().has_value());
  CHECK(one.status().has_value());
  CHECK(place.backgrounds(where).size() == 1);
}

task<void> key_race(context& place, handle where) {
  std::vector<running<background>> all;
  const command server = command("echo x >>starts; sleep 60").key("server");
  for (int i = 0; i < 8; ++i) all.emplace_back(place.get_executor(), place.exec_background(where, server));
  std::vector<std::int64_t> pids;
  for (auto& each : all) {
    const background one = co_await each.result();
    pids.push_back(one.pid());
  }
  CHECK(std::all_of(pids.begin(), pids.end(), [&](std::int64_t pid) { return pid == pids[0] && pid > 0; }));
  co_await file_appears(where.cwd() + "/starts");
  CHECK(place.backgrounds(where).size() == 1);
  const exec_result starts = co_await place.exec(where, "cat starts");
  CHECK(starts.std_out == "x\n");
}

task<void> key_race_with_cancel(context& place, handle where) {
  for (int turn = 0; turn < 6; ++turn) {
    const command server = command("sleep 60").key("server" + std::to_string(turn));
    running<background> first(place.get_executor(), place.exec_background(where, server));
    running<background> second(place.get_executor(), place.exec_background(where, server));
    if (turn % 2 == 1) co_await pause_for(std::chrono::milliseconds(turn / 2));
    first.cancel();
    background one = co_await second.result();
    CHECK_FALSE(one.status().has_value());
    CHECK(place.backgrounds(where).size() == static_cast<std::size_t>(turn) + 1);
  }
}

task<void> listed(context& place, handle where) {
  background one = co_await place.exec_background(where, "sleep 60");
  background two = co_await place.exec_background(where, command("echo x").key("named"));
  co_await two.wait();
  const auto all = place.backgrounds(where);
  REQUIRE(all.size() == 2);
  CHECK(all[0].pid() == one.pid());
  CHECK(all[1].id() == "named");
  CHECK(all[0].id() != all[1].id());
  CHECK(all[1].status() == exit_status::exited(0));
  const handle other = co_await place.spawn();
  CHECK(place.backgrounds(other).empty());
}

task<void> signalled(context& place, handle where) {
  background one = co_await place.exec_background(where, child("trap"));
  co_await one.wait_for_output("ready\n", 10s);
  one.signal(SIGUSR1);
  const auto got = co_await one.wait_for_output("got " + std::to_string(SIGUSR1) + "\n", 10s);
  CHECK(got.has_value());
  one.signal(SIGUSR2);
  const exit_status status = co_await one.wait();
  CHECK(status.ok());
  one.signal(SIGUSR1);
}

task<void> killed_with_its_tree(context& place, handle where) {
  background one = co_await place.exec_background(where, child("tree", "stay").grace(200ms));
  const std::vector<pid_t> pids = co_await logged_pids(place, where, one);
  CHECK(pids.size() == 7);
  const exit_status status = co_await one.kill();
  CHECK(status.reason() == end_reason::cancelled);
  CHECK(alive_among(pids).empty());
  CHECK(one.read(std_out, 0).ended());
  const exit_status again = co_await one.wait();
  CHECK(again == status);
}

task<void> dropped_lives_on(context& place, handle where) {
  std::int64_t pid = 0;
  {
    background one =
        co_await place.exec_background(where, command("while :; do echo line; echo >>beat; sleep 0.02; done").key("k"));
    pid = one.pid();
    co_await one.wait_for_output("line", 10s);
  }
  std::filesystem::remove(where.cwd() + "/beat");
  const bool beats = co_await file_appears(where.cwd() + "/beat");
  CHECK(beats);
  background again = co_await place.exec_background(where, command("other").key("k"));
  CHECK(again.pid() == pid);
  const log_piece begun = again.read(std_out, 0, 5);
  CHECK(begun.bytes() == "line\n");
  const std::uint64_t now = again.tail(std_out).next();
  const log_piece more = co_await again.follow(std_out, now);
  CHECK_FALSE(more.bytes().empty());
}

task<void> destroy_ends_it(context& place, handle where) {
  background one = co_await place.exec_background(where, child("tree", "stay"));
  const std::vector<pid_t> pids = co_await logged_pids(place, where, one);
  background ended = co_await place.exec_background(where, "echo x; exit 7");
  co_await ended.wait();
  running<exit_status> waiting(place.get_executor(), one.wait());
  running<std::string> reading(place.get_executor(), follow_all(one, std_out));
  running<std::optional<output_match>> looking(place.get_executor(), one.wait_for_output("never", 60s));
  co_await place.destroy(where);
  CHECK(alive_among(pids).empty());
  CHECK(one.status() == exit_status(end_reason::cancelled, 128 + SIGKILL, SIGKILL));
  CHECK(ended.status() == exit_status::exited(7));
  const exit_status status = co_await waiting.result();
  CHECK(status == *one.status());
  const std::string all = co_await reading.result();
  CHECK(all.starts_with("pids"));
  const auto match = co_await looking.result();
  CHECK_FALSE(match.has_value());
  const exit_status killed = co_await one.kill();
  CHECK(killed == status);
}

task<void> context_goes(context& place, handle) {
  std::unique_ptr<context> other = another_context(place);
  const handle there = co_await other->spawn();
  background one = co_await other->exec_background(there, child("tree", "stay"));
  const std::vector<pid_t> pids = co_await logged_pids(*other, there, one);
  running<exit_status> waiting(place.get_executor(), one.wait());
  other.reset();
  const bool gone = co_await all_gone(pids);
  CHECK_MESSAGE(gone, alive_among(pids));
  const exit_status status = co_await waiting.result();
  CHECK(status.code() != 0);
  CHECK(one.read(std_out, 0).bytes().starts_with("pids"));
}

task<void> context_goes_at_any_moment(context& place, handle) {
  for (int turn = 0; turn < 8; ++turn) {
    std::unique_ptr<context> other = another_context(place);
    const handle there = co_await other->spawn();
    background one = co_await other->exec_background(there, child("flood", "3000000").output_limit(1000));
    running<background> two(place.get_executor(), other->exec_background(there, "sleep 60"));
    if (turn > 0) co_await pause_for(std::chrono::milliseconds(turn));
    other.reset();
    co_await one.wait();
    try {
      background second = co_await two.result();
      co_await second.wait();
    } catch (const std::system_error&) {
    }
  }
}

/// Of a command that never reads what it is sent.
task<void> write_ends_with(context& place, handle where, std::string text, bool destroyed) {
  background one = co_await place.exec_background(where, command(std::move(text)).input_stream());
  const std::string much(std::size_t{4} << 20, 'x');
  running<std::error_code> first(place.get_executor(), failure_of(one.write(much)));
  running<std::error_code> second(place.get_executor(), failure_of(one.write("y")));
  if (destroyed) {
    co_await pause_for(100ms);
    CHECK_FALSE(first.ended());
    co_await place.destroy(where);
  }
  co_await one.wait();
  std::error_code code = co_await first.result();
  CHECK(code == std::errc::broken_pipe);
  code = co_await second.result();
  CHECK(code == std::errc::broken_pipe);
}

task<void> write_that_waits(context& place, handle where) {
  co_await write_ends_with(place, where, "sleep 0.1", false);
  co_await write_ends_with(place, where, "exec 3<&0; sleep 60 <&3 & sleep 0.1", false);
  co_await write_ends_with(place, where, "exec 3<&0; sleep 60 <&3 3<&- >/dev/null 2>&1 & exec 3<&-; sleep 0.1", false);
  co_await write_ends_with(place, where, "sleep 60", true);
}

task<void> start_that_failed(context& place, handle where) {
  background one = co_await place.exec_background(where, argv("/nonexistent/program").key("k"));
  REQUIRE(one.status().has_value());
  CHECK(one.status()->reason() == end_reason::start_failed);
  CHECK(one.status()->code() == 127);
  CHECK(one.pid() == 0);
  const exit_status status = co_await one.wait();
  CHECK(status == *one.status());
  background two = co_await place.exec_background(where, command("echo x").key("k"));
  const exit_status second = co_await two.wait();
  CHECK(second.ok());
  const command spilled = argv("/nonexistent/program").key("spilled").spill(where.cwd() + "/spill");
  for (int turn = 0; turn < 2; ++turn) {
    background three = co_await place.exec_background(where, spilled);
    REQUIRE(three.status().has_value());
    CHECK(three.status()->reason() == end_reason::start_failed);
  }
  background four = co_await place.exec_background(where, command("echo x").key("spilled"));
  const exit_status fourth = co_await four.wait();
  CHECK(fourth.ok());
}

task<void> leftover_keeps_the_streams(context& place, handle where) {
  background one = co_await place.exec_background(where, child("hold"));
  const exit_status status = co_await one.wait();
  CHECK(status.ok());
  CHECK(one.streams_open());
  CHECK(one.read(std_out, 0).ended());
  const std::vector<pid_t> pids = co_await pids_said(place, where, one.read(std_out, 0).bytes());
  CHECK_FALSE(alive_among(pids).empty());
  co_await one.kill();
  CHECK(one.status() == status);
  const bool gone = co_await all_gone(pids);
  CHECK_MESSAGE(gone, alive_among(pids));
}

task<void> deadlines_hold(context& place, handle where) {
  background late = co_await place.exec_background(where, command("sleep 60").timeout(100ms));
  const exit_status first = co_await late.wait();
  CHECK(first.reason() == end_reason::timed_out);
  background idle = co_await place.exec_background(where, command("echo x; sleep 60").idle_timeout(100ms));
  const exit_status second = co_await idle.wait();
  CHECK(second.reason() == end_reason::idle_timed_out);
  background tidy = co_await place.exec_background(where, command("sleep 60 & echo pids $!").end_leftovers());
  const exit_status third = co_await tidy.wait();
  CHECK(third.ok());
  const std::vector<pid_t> pids = co_await pids_said(place, where, tidy.read(std_out, 0).bytes());
  CHECK(pids.size() == 1);
  CHECK(alive_among(pids).empty());
}

task<void> cancelled_start(context& place, handle where) {
  for (int turn = 0; turn < 8; ++turn) {
    running<background> starting(place.get_executor(), place.exec_background(where, "sleep 60"));
    if (turn > 0) co_await pause_for(std::chrono::milliseconds(turn - 1));
    const bool started = starting.ended();
    starting.cancel();
    try {
      background one = co_await starting.result();
      co_await one.kill();
    } catch (const std::system_error& failure) {
      CHECK_FALSE(started);
      CHECK(is_cancelled(failure.code()));
    }
  }
  for (const background& each : place.backgrounds(where)) CHECK(each.status().has_value());
}

constexpr contract_case background_life_table[] = {
    {"background: a key starts once", key_starts_once},
    {"background: once forgotten, its key starts anew", forgotten, needs::pids},
    {"background: starts that race for a key are one", key_race, needs::pids},
    {"background: a start that is cancelled leaves the key to who waits for it", key_race_with_cancel},
    {"background: the handle lists its own, in the order of their starts", listed},
    {"background: signals reach it", signalled, needs::signals},
    {"background: kill ends its whole tree", killed_with_its_tree, needs::kills_tree},
    {"background: dropped, it lives on with the handle and is found by its key", dropped_lives_on},
    {"background: destroy ends it as cancelled and answers who waits", destroy_ends_it},
    {"background: a context that goes takes it along and answers who waits", context_goes},
    {"background: a context may go at any moment", context_goes_at_any_moment, 60s},
    {"background: a start that failed is a value", start_that_failed},
    {"background: a write that waits ends with it, whatever holds its input", write_that_waits},
    {"background: what holds its streams lives on, and ends with kill", leftover_keeps_the_streams,
     needs::leftover_output},
    {"background: deadlines and end_leftovers hold", deadlines_hold, needs::kills_tree},
    {"background: a start may be cancelled at any moment", cancelled_start},
};

}  // namespace

std::span<const contract_case> background_life_cases() { return background_life_table; }

}  // namespace berth::contract
