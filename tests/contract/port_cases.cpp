/// The TCP ports that a command listens on.
#include "contract/contract.hpp"

#include <algorithm>
#include <cstdlib>

namespace berth::contract {
namespace {

using port_list = std::vector<std::uint16_t>;

template <class... Words>
command listener(Words... words) {
  return argv(BERTH_TEST_PROGRAMS "/listener", std::string(words)...).input_stream();
}

/// The numbers behind "ports", as the listener says them, ascending.
task<port_list> said(process& source) {
  const std::string text = co_await read_until(source, "\n");
  port_list all;
  const auto at = text.find("ports");
  if (at != text.npos) {
    const char* rest = text.c_str() + at + 5;
    for (char* end = nullptr; const long port = std::strtol(rest, &end, 10); rest = end)
      all.push_back(static_cast<std::uint16_t>(port));
  }
  std::sort(all.begin(), all.end());
  co_return all;
}

task<void> two_sorted(context& place, handle where) {
  process running = co_await place.exec_stream(where, listener("two"));
  const port_list listens = co_await said(running);
  CHECK(listens.size() == 2);
  port_list seen = co_await running.ports();
  CHECK(seen == listens);
  co_await running.write("close\nclose\n");
  std::string closed = co_await read_until(running, "closed\n");
  if (closed.find("closed\nclosed") == closed.npos) co_await read_until(running, "closed\n");
  seen = co_await running.ports();
  CHECK(seen.empty());
}

task<void> below(context& place, handle where) {
  process child = co_await place.exec_stream(where, listener("child"));
  port_list listens = co_await said(child);
  port_list seen = co_await child.ports();
  CHECK(listens.size() == 1);
  CHECK(seen == listens);
  process session = co_await place.exec_stream(where, listener("session"));
  listens = co_await said(session);
  seen = co_await session.ports();
  CHECK(seen == listens);
}

task<void> none(context& place, handle where) {
  process listens = co_await place.exec_stream(where, listener());
  co_await said(listens);
  process quiet = co_await place.exec_stream(where, "exec sleep 60");
  const port_list seen = co_await quiet.ports();
  CHECK(seen.empty());
}

task<void> after_the_end(context& place, handle where) {
  process running = co_await place.exec_stream(where, listener("left"));
  const port_list listens = co_await said(running);
  co_await running.wait();
  port_list seen = co_await running.ports();
  CHECK(seen == listens);
  co_await running.kill();
  seen = co_await running.ports();
  CHECK(seen.empty());
}

task<void> never_started(context& place, handle where) {
  process missing = co_await place.exec_stream(where, argv("/nonexistent"));
  const port_list seen = co_await missing.ports();
  CHECK(seen.empty());
}

task<void> at_once(context& place, handle where) {
  process running = co_await place.exec_stream(where, listener());
  const port_list listens = co_await said(running);
  std::vector<berth::test::running<port_list>> all;
  for (int i = 0; i < 10; ++i) all.emplace_back(place.get_executor(), running.ports());
  all[3].cancel();
  all[7].cancel();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i == 3 || i == 7) continue;
    const port_list seen = co_await all[i].result();
    CHECK(seen == listens);
  }
  const port_list seen = co_await running.ports();
  CHECK(seen == listens);
}

task<void> ports_in_a_terminal(context& place, handle where) {
  const command what = listener().terminal(80, 24);
  process running = co_await place.exec_stream(where, what);
  const port_list listens = co_await said(running);
  const port_list seen = co_await running.ports();
  CHECK(listens.size() == 1);
  CHECK(seen == listens);
}

constexpr contract_case port_table[] = {
    {"ports: those of a command, ascending, and no more once they are closed", two_sorted, needs::lists_ports},
    {"ports: of a child of a child, also in a session of its own", below, needs::lists_ports},
    {"ports: a command that does not listen has none", none, needs::lists_ports},
    {"ports: of an ended command, what it left", after_the_end, needs::lists_ports},
    {"ports: a command that never ran has none", never_started, needs::lists_ports},
    {"ports: asked ten times at once, and given up twice", at_once, needs::lists_ports},
    {"ports: of a command in a terminal", ports_in_a_terminal, needs::lists_ports},
};

}  // namespace

std::span<const contract_case> port_cases() { return port_table; }

}  // namespace berth::contract
