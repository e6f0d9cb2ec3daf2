/// What a command prints is what comes back.
#include "contract/contract.hpp"

#include "support/temp_dir.hpp"

namespace berth::contract {
namespace {

std::string pattern(std::uint64_t from, std::size_t size) {
  std::string bytes;
  for (std::uint64_t i = from; i < from + size; ++i) bytes.push_back(static_cast<char>(i % 251));
  return bytes;
}

task<void> streams_apart(context& place, handle where) {
  const exec_result result = co_await place.exec(where, "echo out; echo err >&2; echo more");
  CHECK(result.ok());
  CHECK(result.std_out == "out\nmore\n");
  CHECK(result.std_err == "err\n");
  CHECK(result.out.seen() == 9);
  CHECK(result.err.seen() == 4);
  CHECK_FALSE(result.out.truncated());
  CHECK_FALSE(result.streams_open);
  CHECK(result.wall_time.count() > 0);
}

task<void> exact_bytes(context& place, handle where) {
  std::string expected;
  for (int value = 0; value < 256; ++value) expected.push_back(static_cast<char>(value));
  expected.append(2, '\0');
  const exec_result result = co_await place.exec(where, child("bytes"));
  CHECK(result.std_out == expected);
  CHECK(result.std_err.empty());
}

task<void> no_output(context& place, handle where) {
  const exec_result result = co_await place.exec(where, argv("true"));
  CHECK(result.ok());
  CHECK(result.std_out.empty());
  CHECK(result.std_err.empty());
}

task<void> check_merged(context& place, handle where, command what) {
  const exec_result result = co_await place.exec(where, what.merge_stderr());
  std::string expected;
  for (int i = 0; i < 3000; ++i) expected += "o" + std::to_string(i) + "\ne" + std::to_string(i) + "\n";
  CHECK(result.std_out == expected);
  CHECK(result.std_err.empty());
}

task<void> merged_in_order(context& place, handle where) {
  return check_merged(place, std::move(where), command(child_path() + " interleave 3000"));
}

task<void> merged_without_a_shell(context& place, handle where) {
  return check_merged(place, std::move(where), child("interleave", "3000"));
}

task<void> tiny_writes(context& place, handle where) {
  const exec_result result = co_await place.exec(where, child("tiny", "200000"));
  CHECK(result.ok());
  CHECK(result.std_out.size() == 200000);
  CHECK(is_pattern(result.std_out));
}

task<void> chunks_name_their_stream(context& place, handle where) {
  process running = co_await place.exec_stream(where, "echo out; echo err >&2");
  CHECK(running.pid() > 0);
  const auto all = co_await read_all(running);
  CHECK(all->out == "out\n");
  CHECK(all->err == "err\n");
  REQUIRE(running.status().has_value());
  CHECK(running.status()->ok());
  const std::optional<chunk> after = co_await running.next();
  CHECK_FALSE(after.has_value());
}

task<void> comes_while_it_runs(context& place, handle where) {
  process running = co_await place.exec_stream(where, command("echo first; read line; echo $line").input_stream());
  std::string seen = co_await read_until(running, "first\n");
  CHECK(seen == "first\n");
  co_await running.write("second\n");
  seen = co_await read_until(running, "second\n");
  CHECK(seen == "second\n");
  const exit_status status = co_await running.wait();
  CHECK(status.ok());
}

task<void> limit_keeps_both_ends(context& place, handle where) {
  const exec_result result = co_await place.exec(where, child("flood", "1000000").output_limit(10000));
  CHECK(result.out.seen() == 1000000);
  CHECK(result.out.kept() == 10000);
  CHECK(result.out.head() == 5000);
  CHECK(result.out.truncated());
  REQUIRE(result.std_out.size() == 10000);
  CHECK(result.std_out.substr(0, 5000) == pattern(0, 5000));
  CHECK(result.std_out.substr(5000) == pattern(995000, 5000));
}

task<void> limit_split(context& place, handle where) {
  exec_result result = co_await place.exec(where, child("flood", "100000").output_limit(1000).output_split(1));
  CHECK(result.std_out == pattern(0, 1000));
  CHECK(result.out.head() == 1000);
  result = co_await place.exec(where, child("flood", "100000").output_limit(1000).output_split(0));
  CHECK(result.std_out == pattern(99000, 1000));
  CHECK(result.out.head() == 0);
  result = co_await place.exec(where, child("flood", "1000").output_limit(1000));
  CHECK(result.std_out == pattern(0, 1000));
  CHECK_FALSE(result.out.truncated());
  result = co_await place.exec(where, child("flood", "1000").output_limit(0));
  CHECK(result.std_out.empty());
  CHECK(result.out.seen() == 1000);
}

task<void> limit_per_stream(context& place, handle where) {
  const command both = command("printf 1234567890; printf abc >&2").output_limit(4);
  const exec_result result = co_await place.exec(where, both);
  CHECK(result.std_out == "1290");
  CHECK(result.std_err == "abc");
  CHECK_FALSE(result.err.truncated());
}

task<void> spills_all(context& place, handle where) {
  temp_dir directory;
  const std::string path = directory / "spilled";
  write_whole_file(path, "what was there before");
  const std::string text = child_path() + " flood 3000000; " + child_path() + " flood 2000000 2";
  const command loud = command(text).output_limit(100).spill(path);
  const exec_result result = co_await place.exec(where, loud);
  CHECK(result.ok());
  CHECK(result.out_file == path);
  CHECK(result.err_file == path + ".stderr");
  const std::string out = read_whole_file(path);
  const std::string err = read_whole_file(path + ".stderr");
  CHECK(out.size() == 3000000);
  CHECK(is_pattern(out));
  CHECK(err.size() == 2000000);
  CHECK(is_pattern(err));
  CHECK(result.std_out.size() == 100);
}

task<void> characters_join(context& place, handle where) {
  const std::string letters = "\u00e9\u20ac\U0001d11e";  // 2, 3 and 4 bytes: 9 in all, no divisor of any buffer size
  const exec_result result = co_await place.exec(where, child("repeat", "60000", letters));
  REQUIRE(result.std_out.size() == 60000 * 9);
  std::size_t wrong = 0;
  for (std::size_t at = 0; at < result.std_out.size(); at += 9) wrong += result.std_out.compare(at, 9, letters) != 0;
  CHECK(wrong == 0);
  CHECK(result.out_text() == result.std_out);
}

task<void> text_is_valid(context& place, handle where) {
  const std::string euros = "i=0; while [ $i -lt 1000 ]; do printf '\\342\\202\\254'; i=$((i+1)); done";
  exec_result result = co_await place.exec(where, command(euros).output_limit(100));
  CHECK(result.std_out.size() == 100);
  const std::string text = result.out_text();
  CHECK(text.find("bytes left out") != std::string::npos);
  CHECK(text.find("\xef\xbf\xbd") == std::string::npos);
  CHECK(text.starts_with("\xe2\x82\xac"));
  CHECK(text.ends_with("\xe2\x82\xac"));
  result = co_await place.exec(where, "printf 'a\\377b'");
  CHECK(result.std_out ==
        "a\xff"
        "b");
  CHECK(result.out_text() ==
        "a\xef\xbf\xbd"
        "b");
}

constexpr contract_case output_table[] = {
    {"the two streams arrive apart", streams_apart},
    {"all 256 byte values, NULs and a missing newline come exactly", exact_bytes},
    {"a silent command gives two empty streams", no_output},
    {"merge_stderr gives both streams in the exact order of the writes", merged_in_order},
    {"merge_stderr does so of a program without a shell", merged_without_a_shell, needs::exact_merge},
    {"200 000 writes of one byte come exactly", tiny_writes, 60s},
    {"each chunk names its stream, and nullopt comes once and again at the end", chunks_name_their_stream, needs::pids},
    {"output comes while the command runs", comes_while_it_runs},
    {"output_limit keeps the head and the tail and counts the rest", limit_keeps_both_ends},
    {"output_split moves the gap, and a limit just met drops nothing", limit_split},
    {"each stream has a limit of its own", limit_per_stream},
    {"spill writes the whole of both streams to files", spills_all},
    {"characters cut between reads are joined exactly", characters_join, 30s},
    {"text at a gap and of invalid bytes is valid UTF-8", text_is_valid},
};

}  // namespace

std::span<const contract_case> output_cases() { return output_table; }

}  // namespace berth::contract
