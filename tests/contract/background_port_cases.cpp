/// Waiting for a background command to listen.
#include "contract/contract.hpp"

namespace berth::contract {
namespace {

/// Prints its port: "port N". The end of its input ends it.
command listener(std::string before = {}) {
  return command(before +
                 "exec python3 -c 'import socket, sys\n"
                 "s = socket.create_server((\"127.0.0.1\", 0))\n"
                 "print(\"port\", s.getsockname()[1], flush=True)\n"
                 "sys.stdin.read()'")
      .input_stream();
}

task<std::uint16_t> port_of(background one) {
  const auto line = co_await one.wait_for_output(output_pattern::regex("port [0-9]+$"), 20s);
  REQUIRE(line.has_value());
  // Not the beginning of a number.
  co_await one.wait_for_output(output_pattern(line->text()), 1s);
  co_return static_cast<std::uint16_t>(std::stoi(line->text().substr(5)));
}

task<void> finds_its_port(context& place, handle where) {
  background one = co_await place.exec_background(where, listener());
  if (!place.can().lists_ports) {
    const std::error_code code = co_await failure_of(one.wait_for_port(1, 1s));
    CHECK(code == errc::unsupported);
    co_return;
  }
  const std::uint16_t port = co_await port_of(one);
  const bool listens = co_await one.wait_for_port(port, 20s);
  CHECK(listens);
  background other = co_await place.exec_background(where, "sleep 60");
  const bool foreign = co_await other.wait_for_port(port, 100ms);
  CHECK_FALSE(foreign);
  const auto none = co_await other.ports();
  CHECK(none.empty());
}

task<void> false_at_its_end(context& place, handle where) {
  if (!place.can().lists_ports) co_return;
  background one = co_await place.exec_background(where, "sleep 0.2");
  const bool listens = co_await one.wait_for_port(1, 60s);
  CHECK_FALSE(listens);
  background killed = co_await place.exec_background(where, "sleep 60");
  running<bool> waiting(place.get_executor(), killed.wait_for_port(1, 60s));
  co_await killed.kill();
  const bool after = co_await waiting.result();
  CHECK_FALSE(after);
}

task<void> found_in_what_it_left(context& place, handle where) {
  if (!place.can().lists_ports) co_return;
  const std::string text =
      "python3 -c 'import socket, time\n"
      "s = socket.create_server((\"127.0.0.1\", 0))\n"
      "open(\"port\", \"w\").write(str(s.getsockname()[1]))\n"
      "time.sleep(60)' >/dev/null 2>&1 & echo left";
  background one = co_await place.exec_background(where, text);
  co_await one.wait();
  co_await file_appears(where.cwd() + "/port", 20s);
  const std::string port = co_await place.read_file(where, "port");
  const bool listens = co_await one.wait_for_port(static_cast<std::uint16_t>(std::stoi(port)), 20s);
  CHECK(listens);
}

constexpr contract_case background_port_table[] = {
    {"background: wait_for_port sees its own ports alone, or says that it cannot", finds_its_port, 60s},
    {"background: wait_for_port gives false soon after its end", false_at_its_end, 60s},
    {"background: wait_for_port sees what it left running", found_in_what_it_left, 60s},
};

}  // namespace

std::span<const contract_case> background_port_cases() { return background_port_table; }

}  // namespace berth::contract
