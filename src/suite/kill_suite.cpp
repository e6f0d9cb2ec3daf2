/// How long from the wish to end a command to the death of its whole tree?

#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <stdexcept>
#include <utility>

namespace berth::suite {
namespace {

using namespace std::chrono_literals;

/// A tree of 100, some in sessions of their own.
command tree() {
  command what(
      "i=0; while [ $i -lt 89 ]; do sleep 1000 & i=$((i+1)); done\n"
      "i=0; while [ $i -lt 10 ]; do setsid sleep 1000 & i=$((i+1)); done\n"
      "echo ready; wait");
  what.grace(0ms);  // what is measured is beyond it
  return what;
}

task<double> kill_tree(shared_place warm) {
  context place = *warm->place;
  auto what = tree();
  auto process = co_await place.exec_stream(warm->where, std::move(what));
  const auto ready = co_await process.next();
  if (!ready) throw std::runtime_error("the tree has ended by itself");
  const bench::stopwatch watch;
  co_await process.kill();
  const double millis = watch.millis();
  if (!process.survivors().empty()) throw std::runtime_error("some processes have survived");
  co_return millis;
}

}  // namespace

subjects kill_suite(asio::io_context& io) {
  const auto warm = std::make_shared<warm_place>(io);
  subjects all;
  all.push_back(
      in_place(warm, {.name = "kill/host", .unit = "ms", .limit = 50, .sample = [warm] { return kill_tree(warm); }}));
  return all;
}

}  // namespace berth::suite
