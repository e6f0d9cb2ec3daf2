#include "suite/keyboard.hpp"

#include "suite/suite.hpp"

#include <stdexcept>
#include <utility>

namespace berth::suite {
namespace {

task<void> next_key(shared_keyboard its) {
  const auto piece = co_await its->shown.follow(its->offset);
  if (piece.bytes().empty()) throw std::runtime_error("the terminal has ended");
  its->offset = piece.next();
}

}  // namespace

task<void> open_keyboard(shared_keyboard its) {
  context place = *its->warm->place;
  auto how = terminal_options().run(its->echo);
  its->shown = co_await place.open_terminal(its->warm->where, std::move(how));
  its->offset = 0;
  co_await next_key(its);
}

void close_keyboard(keyboard& its) { its.shown = terminal(); }

task<double> press_keys(shared_keyboard its) {
  const bench::stopwatch watch;
  for (int i = 0; i < keys_in_sample; ++i) {
    co_await its->shown.write("k");
    co_await next_key(its);
  }
  co_return watch.micros() / keys_in_sample;
}

}  // namespace berth::suite
