#pragma once
/// Typing at a program that echoes, in a terminal of any place.

#include "suite/warm_place.hpp"

#include <berth/bench.hpp>

#include <cstdint>
#include <memory>
#include <utility>

namespace berth::suite {

/// A program that shows a byte when it is ready, and then each that is typed.
struct keyboard {
  keyboard(shared_place its_place, command its_echo) : warm(std::move(its_place)), echo(std::move(its_echo)) {}

  shared_place warm;
  command echo;
  terminal shown;
  std::uint64_t offset = 0;
};
using shared_keyboard = std::shared_ptr<keyboard>;

/// The place must be open.
task<void> open_keyboard(shared_keyboard its);
void close_keyboard(keyboard& its);
/// Microseconds from a key to its echo, the mean of `keys_in_sample`.
task<double> press_keys(shared_keyboard its);

}  // namespace berth::suite
