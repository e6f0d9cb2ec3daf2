/// Standard input: closed, given bytes, or a stream.
#include "contract/contract.hpp"

namespace berth::contract {
namespace {

constexpr std::size_t eight_mebibytes = std::size_t{8} << 20;

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i % 251);
  return bytes;
}

task<void> closed_by_default(context& place, handle where) {
  exec_result result = co_await place.exec(where, "cat; echo end");
  CHECK(result.std_out == "end\n");
  process running = co_await place.exec_stream(where, child("cat"));
  const exit_status status = co_await running.wait();
  CHECK(status.ok());
}

task<void> exact_input(context& place, handle where) {
  std::string all;
  for (int value = 0; value < 256; ++value) all.push_back(static_cast<char>(value));
  exec_result result = co_await place.exec(where, child("cat").input(all));
  CHECK(result.std_out == all);
  result = co_await place.exec(where, child("cat").input(""));
  CHECK(result.ok());
  CHECK(result.std_out.empty());
}

task<void> echo_of_much(context& place, handle where) {
  const std::string bytes = pattern(eight_mebibytes);
  const exec_result result = co_await place.exec(where, child("cat").input(bytes).output_limit(eight_mebibytes));
  CHECK(result.ok());
  CHECK(result.std_out.size() == eight_mebibytes);
  CHECK(is_pattern(result.std_out));
}

task<void> never_read(context& place, handle where) {
  const exec_result result = co_await place.exec(where, argv("true").input(pattern(eight_mebibytes)));
  CHECK(result.ok());
  const exec_result some = co_await place.exec(where, argv("head", "-c", "3").input(pattern(eight_mebibytes)));
  CHECK(some.ok());
  CHECK(some.std_out == pattern(3));
}

task<void> input_closed_early(context& place, handle where) {
  const command deaf = command("exec 0<&-; echo deaf; sleep 0.2; echo end").input(pattern(eight_mebibytes));
  const exec_result result = co_await place.exec(where, deaf);
  CHECK(result.ok());
  CHECK(result.std_out == "deaf\nend\n");
}

task<void> write_and_close(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("cat").input_stream());
  co_await running.write("one\n");
  const std::string seen = co_await read_until(running, "one\n");
  CHECK(seen == "one\n");
  co_await running.write(std::string("\0two", 4));
  co_await running.write("");
  co_await running.close_stdin();
  co_await running.close_stdin();
  const auto rest = co_await read_all(running);
  CHECK(rest->out == std::string("\0two", 4));
  CHECK(running.status()->ok());
}

task<int> write_all(process& target, std::size_t size) {
  co_await target.write(pattern(size));
  co_await target.close_stdin();
  co_return 0;
}

task<void> both_ways_at_once(context& place, handle where) {
  process echo = co_await place.exec_stream(where, child("cat").input_stream());
  running<int> writer(place.get_executor(), write_all(echo, eight_mebibytes));
  const auto all = co_await read_all(echo);
  co_await writer.result();
  CHECK(all->out.size() == eight_mebibytes);
  CHECK(is_pattern(all->out));
}

task<void> write_much(process& target) {
  for (int i = 0; i < 1000; ++i) co_await target.write(pattern(65536));
}

task<void> write_after_exit(context& place, handle where) {
  process running = co_await place.exec_stream(where, command("echo ready; read line; exit 5").input_stream());
  co_await read_until(running, "ready");
  co_await running.write("go\n");
  const exit_status status = co_await running.wait();
  CHECK(status == exit_status::exited(5));
  const std::error_code code = co_await failure_of(write_much(running));
  CHECK(code == std::errc::broken_pipe);
  co_await running.close_stdin();
}

task<void> write_to_the_deaf(context& place, handle where) {
  process running = co_await place.exec_stream(where, child("close", "60000", "0").input_stream());
  co_await read_until(running, "closed");
  const std::error_code code = co_await failure_of(write_much(running));
  CHECK(code == std::errc::broken_pipe);
  const exit_status status = co_await running.kill();
  CHECK(status.reason() == end_reason::cancelled);
}

task<void> write_without_stream(context& place, handle where) {
  process running = co_await place.exec_stream(where, "exit 0");
  const std::error_code code = co_await failure_of(write_much(running));
  CHECK(code == errc::invalid_argument);
  co_await running.wait();
}

task<int> write_pattern(process& target, std::size_t size) {
  co_await target.write(pattern(size));
  co_return 1;
}

task<void> write_held_up(context& place, handle where) {
  process stuck = co_await place.exec_stream(where, argv("sleep", "60").input_stream());
  running<int> writer(place.get_executor(), write_pattern(stuck, eight_mebibytes));
  const exec_result other = co_await place.exec(where, "echo fine");
  CHECK(other.std_out == "fine\n");
  CHECK_FALSE(writer.ended());
  const exit_status status = co_await stuck.kill();
  CHECK(status.reason() == end_reason::cancelled);
  const std::error_code code = co_await failure_of(writer.result());
  CHECK(code == std::errc::broken_pipe);
}

task<void> waiting_reader(context& place, handle where) {
  process running = co_await place.exec_stream(where, command("read line; echo got $line").input_stream());
  const exec_result other = co_await place.exec(where, "echo other");
  CHECK(other.ok());
  co_await running.write("it\n");
  const auto all = co_await read_all(running);
  CHECK(all->out == "got it\n");
}

constexpr contract_case input_table[] = {
    {"standard input is at its end by default", closed_by_default},
    {"given input arrives exactly, then its end", exact_input},
    {"8 MiB go through cat and come back exactly", echo_of_much, 30s},
    {"a command that never reads its 8 MiB of input is not held up", never_read},
    {"a command that closes its input early lives on", input_closed_early},
    {"write() reaches the command and close_stdin() ends its input, twice too", write_and_close},
    {"8 MiB are written and read at the same time", both_ways_at_once, 30s},
    {"write() after the command ended is broken_pipe", write_after_exit},
    {"write() to a command that closed its input is broken_pipe", write_to_the_deaf},
    {"write() without input_stream is refused", write_without_stream},
    {"a write that is held up ends with the command", write_held_up},
    {"a command waits for input that comes later", waiting_reader},
};

}  // namespace

std::span<const contract_case> input_cases() { return input_table; }

}  // namespace berth::contract
