#pragma once
/// The machine that we run on.

#include <berth/bench.hpp>

namespace berth::bench {

environment this_machine();

}  // namespace berth::bench
