/// Background commands: their logs, and what is awaited in them.
#include "contract/contract.hpp"

#include "support/temp_dir.hpp"

namespace berth::contract {
namespace {

using output_stream::std_out;
constexpr auto err = output_stream::std_err;

task<void> both_logs_exact(context& place, handle where) {
  const std::string text = child_path() + " flood 700000; " + child_path() + " flood 500000 2; exit 3";
  background one = co_await place.exec_background(where, text);
  CHECK(one.pid() > 0);
  const exit_status status = co_await one.wait();
  CHECK(status == exit_status::exited(3));
  const log_piece all = one.read(std_out, 0, 1 << 20);
  CHECK(all.bytes().size() == 700000);
  CHECK(is_pattern(all.bytes()));
  CHECK(all.ended());
  const log_piece errors = one.read(err, 0, 1 << 20);
  CHECK(errors.bytes().size() == 500000);
  CHECK(is_pattern(errors.bytes()));
  CHECK(one.usage().max_rss_bytes > 0);
}

task<void> followed_to_the_end(context& place, handle where) {
  background one = co_await place.exec_background(where, child("interleave", "2000"));
  running<std::string> reader(place.get_executor(), follow_all(one, std_out));
  running<std::string> second(place.get_executor(), follow_all(one, std_out));
  running<std::string> errors(place.get_executor(), follow_all(one, err));
  std::string expected_out, expected_err;
  for (int i = 0; i < 2000; ++i) {
    expected_out += "o" + std::to_string(i) + "\n";
    expected_err += "e" + std::to_string(i) + "\n";
  }
  const std::string a = co_await reader.result();
  const std::string b = co_await second.result();
  const std::string c = co_await errors.result();
  CHECK(a == expected_out);
  CHECK(b == expected_out);
  CHECK(c == expected_err);
}

task<void> ring_overrun(context& place, handle where) {
  background one = co_await place.exec_background(where, child("flood", "1000000").output_limit(10000));
  co_await one.wait();
  const log_piece rest = one.read(std_out, 500, 1 << 20);
  CHECK(rest.bytes().size() == 10000);
  CHECK(rest.gap() == 989500);
  CHECK(rest.offset() == 990000);
  CHECK(is_pattern(rest.bytes(), 990000));
  const log_piece last = one.tail(std_out, 100);
  CHECK(last.offset() == 999900);
  CHECK(is_pattern(last.bytes(), 999900));
}

task<void> much_through_a_small_ring(context& place, handle where) {
  const memory_rise memory;
  background one = co_await place.exec_background(where, child("flood", "104857600").output_limit(65536));
  const exit_status status = co_await one.wait();
  CHECK(status.ok());
  const log_piece rest = one.read(std_out, 0, 1 << 20);
  CHECK(rest.bytes().size() == 65536);
  CHECK(rest.next() == 104857600);
  CHECK(is_pattern(rest.bytes(), rest.offset()));
  CHECK(memory.stays_below(std::size_t{24} << 20));
}

task<void> spills_all(context& place, handle where) {
  const temp_dir directory;
  const std::string path = directory / "log";
  const std::string text = child_path() + " flood 3000000; " + child_path() + " flood 10 2";
  background one = co_await place.exec_background(where, command(text).output_limit(100).spill(path));
  co_await one.wait();
  const std::string spilled = read_whole_file(path);
  CHECK(spilled.size() == 3000000);
  CHECK(is_pattern(spilled));
  const std::string errors = read_whole_file(path + ".stderr");
  CHECK(errors.size() == 10);
  CHECK(one.spill_error().empty());
}

task<void> wait_after_the_end(context& place, handle where) {
  background one = co_await place.exec_background(where, "echo x; exit 5");
  for (int i = 0; i < 3; ++i) {
    const exit_status status = co_await one.wait();
    CHECK(status == exit_status::exited(5));
  }
  const log_piece piece = co_await one.follow(std_out, 2);
  CHECK(piece.ended());
  CHECK(piece.bytes().empty());
}

task<void> waits_for_text(context& place, handle where) {
  background one =
      co_await place.exec_background(where, "echo first; echo second >&2; sleep 0.1; echo third; sleep 60");
  auto match = co_await one.wait_for_output("third", 10s);
  REQUIRE(match.has_value());
  CHECK(match->stream() == std_out);
  CHECK(match->offset() == 6);
  match = co_await one.wait_for_output("second", 10s);
  REQUIRE(match.has_value());
  CHECK(match->stream() == err);
  match = co_await one.wait_for_output("t\nthird\n", 10s);
  CHECK(match.has_value());
}

task<void> waits_for_the_next(context& place, handle where) {
  background one = co_await place.exec_background(where, "echo a b a; echo a >&2; sleep 0.3; echo a; sleep 60");
  auto match = co_await one.wait_for_output("a", 10s);
  REQUIRE(match.has_value());
  CHECK(match->end() == 1);
  std::vector<std::uint64_t> found;
  for (int i = 0; i < 2; ++i) {
    // Of the other stream there is nothing to be found from here on.
    match = co_await one.wait_for_output(output_pattern("a").from(match->end()).from(1, output_stream::std_err), 10s);
    REQUIRE(match.has_value());
    found.push_back(match->offset());
  }
  CHECK(found == std::vector<std::uint64_t>{4, 6});
  match = co_await one.wait_for_output(output_pattern("a").from(7).from(0, output_stream::std_err), 10s);
  REQUIRE(match.has_value());
  CHECK(match->stream() == output_stream::std_err);
  match = co_await one.wait_for_output(output_pattern::regex("a").from(9).from(9, output_stream::std_err), 50ms);
  CHECK_FALSE(match.has_value());
}

task<void> waits_for_expression(context& place, handle where) {
  background one =
      co_await place.exec_background(where, "echo on port 1; sleep 0.1; printf 'on port 8080> '; sleep 60");
  const auto match = co_await one.wait_for_output(output_pattern::regex("port [0-9]{4,}"), 10s);
  REQUIRE(match.has_value());
  CHECK(match->text() == "port 8080");
  CHECK(match->offset() == 13);
  const auto prompt = co_await one.wait_for_output(output_pattern::regex("^on.*> $"), 10s);
  CHECK(prompt.has_value());
  const std::error_code bad = co_await failure_of(one.wait_for_output(output_pattern::regex("(x"), 1s));
  CHECK(bad == errc::invalid_argument);
}

task<void> waits_in_vain(context& place, handle where) {
  background one = co_await place.exec_background(where, "echo x; sleep 60");
  const stopwatch watch;
  auto match = co_await one.wait_for_output("never", 100ms);
  CHECK_FALSE(match.has_value());
  CHECK(watch.elapsed() >= 100ms);
  background two = co_await place.exec_background(where, "sleep 0.1; echo x");
  match = co_await two.wait_for_output("never", 600s);
  CHECK_FALSE(match.has_value());
  CHECK(two.status().has_value());
}

task<void> fed(context& place, handle where) {
  background one = co_await place.exec_background(where, command("cat; echo end").input_stream());
  std::string expected;
  std::vector<running<std::error_code>> writers;
  for (int i = 0; i < 10; ++i) {
    const std::string part(50000, static_cast<char>('a' + i));
    expected += part;
    writers.emplace_back(place.get_executor(), failure_of(one.write(part)));
  }
  running<std::error_code> closing(place.get_executor(), failure_of(one.close_stdin()));
  for (auto& each : writers) {
    const std::error_code code = co_await each.result();
    CHECK_FALSE(code);
  }
  co_await closing.result();
  co_await one.wait();
  CHECK(one.read(std_out, 0, 1 << 20).bytes() == expected + "end\n");
  const std::error_code late = co_await failure_of(one.write("x"));
  CHECK(late == std::errc::broken_pipe);
  background two = co_await place.exec_background(where, command("cat").input("given"));
  co_await two.wait();
  CHECK(two.read(std_out, 0).bytes() == "given");
}

task<void> many_beside_exec(context& place, handle where) {
  std::vector<background> all;
  for (int i = 0; i < 40; ++i) {
    const std::string line = std::to_string(i);
    all.push_back(co_await place.exec_background(where, "for j in 1 2 3 4 5; do echo " + line + " $j; done"));
  }
  const exec_result beside = co_await place.exec(where, "echo beside");
  CHECK(beside.std_out == "beside\n");
  for (int i = 0; i < 40; ++i) {
    co_await all[static_cast<std::size_t>(i)].wait();
    std::string expected;
    for (int j = 1; j <= 5; ++j) expected += std::to_string(i) + " " + std::to_string(j) + "\n";
    CHECK(all[static_cast<std::size_t>(i)].read(std_out, 0).bytes() == expected);
  }
}

constexpr contract_case background_table[] = {
    {"background: both streams are in the logs, exactly, and the status comes with the last byte", both_logs_exact, 30s,
     needs::usage | needs::pids},
    {"background: followers get every byte once, in order, to the end", followed_to_the_end, 30s},
    {"background: a ring that ran over gives its last bytes and the gap", ring_overrun},
    {"background: 100 MiB go through a ring of 64 KiB in bounded memory", much_through_a_small_ring, 120s},
    {"background: spill has all of both streams once it has ended", spills_all, 30s},
    {"background: after the end wait and follow return at once", wait_after_the_end},
    {"background: wait_for_output finds text in both streams, also what came before", waits_for_text},
    {"background: wait_for_output from an offset finds the next one", waits_for_the_next},
    {"background: wait_for_output takes a regular expression, also for a prompt", waits_for_expression},
    {"background: wait_for_output gives nothing after its deadline or the end", waits_in_vain},
    {"background: several may write to it, and its input ends behind them", fed, 30s},
    {"background: 40 at once beside an exec each get their own output", many_beside_exec, 60s},
};

}  // namespace

std::span<const contract_case> background_cases() { return background_table; }

}  // namespace berth::contract
