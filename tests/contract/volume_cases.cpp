/// Much output, many commands: exact, in bounded memory, and never stuck.
#include "contract/contract.hpp"

namespace berth::contract {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

task<void> slow_reader(context& place, handle where) {
  const memory_rise memory;
  process running = co_await place.exec_stream(where, child("flood", "104857600"));
  std::uint64_t seen = 0;
  std::uint64_t pauses = 0;
  bool exact = true;
  while (auto piece = co_await running.next()) {
    exact = exact && is_pattern(piece->bytes(), seen);
    seen += piece->bytes().size();
    if (seen / (4 * mib) > pauses) {
      ++pauses;
      co_await pause_for(10ms);
    }
  }
  CHECK(seen == 100 * mib);
  CHECK(exact);
  CHECK(running.status()->ok());
  CHECK(memory.stays_below(24 * mib));
}

task<void> head_and_tail_of_much(context& place, handle where) {
  const memory_rise memory;
  const command loud = argv("head", "-c", "1073741824", "/dev/zero").output_limit(mib);
  const exec_result result = co_await place.exec(where, loud);
  CHECK(result.ok());
  CHECK(result.out.seen() == std::uint64_t{1} << 30);
  CHECK(result.std_out.size() == mib);
  CHECK(result.std_out.find_first_not_of('\0') == std::string::npos);
  CHECK(memory.stays_below(24 * mib));
}

task<void> wait_drains(context& place, handle where) {
  const std::string both = child_path() + " flood 10485760; " + child_path() + " flood 10485760 2; exit 4";
  process running = co_await place.exec_stream(where, both);
  const exit_status status = co_await running.wait();
  CHECK(status == exit_status::exited(4));
}

task<void> both_streams_full(context& place, handle where) {
  const std::string both = child_path() + " flood 8388608 2 & " + child_path() + " flood 8388608; wait";
  const exec_result result = co_await place.exec(where, command(both).output_limit(16 * mib));
  CHECK(result.std_out.size() == 8 * mib);
  CHECK(is_pattern(result.std_out));
  CHECK(result.std_err.size() == 8 * mib);
  CHECK(is_pattern(result.std_err));
}

task<void> back_pressure(context& place, handle where) {
  process running = co_await place.exec_stream(where, child_path() + " flood 16777216; echo done >finished");
  const auto first = co_await running.next();
  REQUIRE(first.has_value());
  const bool finished = co_await file_appears(where.cwd() + "/finished", 200ms);
  CHECK_FALSE(finished);
  const auto rest = co_await read_all(running);
  CHECK(first->bytes().size() + rest->out.size() == 16 * mib);
  CHECK(is_pattern(rest->out, first->bytes().size()));
}

task<void> hundred_at_once(context& place, handle where) {
  std::vector<running<exec_result>> all;
  for (int i = 0; i < 100; ++i) {
    const std::string text =
        "echo " + std::to_string(i) + "; echo e" + std::to_string(i) + " >&2; exit " + std::to_string(i);
    all.push_back(start_exec(place, where, text));
  }
  for (int i = 0; i < 100; ++i) {
    const exec_result result = co_await all[static_cast<std::size_t>(i)].result();
    CHECK(result.status == exit_status::exited(i));
    CHECK(result.std_out == std::to_string(i) + "\n");
    CHECK(result.std_err == "e" + std::to_string(i) + "\n");
  }
}

task<void> many_in_turn(context& place, handle where) {
  int wrong = 0;
  for (int i = 0; i < 300; ++i) {
    const exec_result result = co_await place.exec(where, argv("echo", std::to_string(i)));
    if (!result.ok() || result.std_out != std::to_string(i) + "\n") ++wrong;
  }
  CHECK(wrong == 0);
}

task<void> unread_beside_others(context& place, handle where) {
  process stuck = co_await place.exec_stream(where, child("flood", "16777216"));
  for (int i = 0; i < 20; ++i) {
    const exec_result result = co_await place.exec(where, child("flood", "1000000"));
    CHECK(result.std_out.size() == 1000000);
  }
  const auto all = co_await read_all(stuck);
  CHECK(all->out.size() == 16 * mib);
  CHECK(is_pattern(all->out));
}

constexpr contract_case volume_table[] = {
    {"100 MiB come exactly through a slow reader, in bounded memory", slow_reader, 60s},
    {"1 GiB is reduced to its head and tail in bounded memory", head_and_tail_of_much, 60s},
    {"wait() without a reader throws 10 MiB of each stream away", wait_drains, 30s},
    {"both streams may be full at the same time", both_streams_full, 30s},
    {"a command whose output nobody reads is held up, not lost", back_pressure, 30s},
    {"100 commands at once each get their own output and status", hundred_at_once, 60s},
    {"300 commands in turn each get their own output", many_in_turn, 60s},
    {"a command that nobody reads does not hold up the others", unread_beside_others, 30s},
};

}  // namespace

std::span<const contract_case> volume_cases() { return volume_table; }

}  // namespace berth::contract
