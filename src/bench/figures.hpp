#pragma once
/// Numbers as people read them.

#include <berth/bench.hpp>

#include <string>
#include <string_view>

namespace berth::bench {

/// As many digits as are worth reading: 3 for small numbers, none behind the point for large ones.
std::string digits(double value);

/// "better", "worse", "same", "new".
std::string_view word_of(change::kind verdict);

/// Whether a ratio or p99 holds its bar; empty where there is none.
std::string verdict_of(double value, double bar);

}  // namespace berth::bench
