/// Waiting for a background command to listen.
#include "contract/contract.hpp"

#include <cstdlib>

namespace berth::contract {
namespace {

constexpr const char* listener = BERTH_TEST_PROGRAMS "/listener";

/// Behind "ports ", as the listener says it.
std::uint16_t port_in(const std::string& text) {
  const auto at = text.find("ports ");
  return at == text.npos ? 0 : static_cast<std::uint16_t>(std::atoi(text.c_str() + at + 6));
}

task<std::uint16_t> port_of(background one) {
  const auto line = co_await one.wait_for_output(output_pattern::regex("ports [0-9]+$"), 20s);
  REQUIRE(line.has_value());
  co_return port_in(line->text());
}

task<void> finds_its_port(context& place, handle where) {
  background one = co_await place.exec_background(where, argv(listener).input_stream());
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
  background one = co_await place.exec_background(where, std::string(listener) + " left >port; echo left");
  co_await one.wait();
  std::string said;
  for (int i = 0; i < 400 && !said.ends_with('\n'); ++i) {
    co_await pause_for(50ms);
    said = co_await place.read_file(where, "port");
  }
  const std::uint16_t port = port_in(said);
  REQUIRE(port != 0);
  const bool listens = co_await one.wait_for_port(port, 20s);
  CHECK(listens);
}

constexpr contract_case background_port_table[] = {
    {"background: wait_for_port sees its own ports alone, or says that it cannot", finds_its_port, 60s},
    {"background: wait_for_port gives false soon after its end", false_at_its_end, 60s, needs::lists_ports},
    {"background: wait_for_port sees what it left running", found_in_what_it_left, 60s, needs::lists_ports},
};

}  // namespace

std::span<const contract_case> background_port_cases() { return background_port_table; }

}  // namespace berth::contract
