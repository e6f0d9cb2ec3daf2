#pragma once
/// Numbers as people read them.

#include <berth/bench.hpp>

#include <string>
#include <string_view>

namespace berth::bench {

/// As many digits as are worth reading: 3 for small numbers, none behind the point for large ones.
std::string digits(double value);

/// The same, or `-` without samples.
std::string digits_of(const result& what, double value);

/// "better", "worse", "same", "unclear", "unknown".
std::string_view word_of(change::kind verdict);

/// "150 before, 158 now", or "not measured then, 158 now".
std::string before_and_now(const change& what);

/// Whether a ratio or p99 of so many samples holds its bar; empty where there is none.
std::string verdict_of(double value, double bar, std::size_t samples);

/// How many samples a ratio stands on: those of the side that has fewer.
std::size_t samples_behind(const report& what, const result& ours, const ratio& to);

/// "10 times, given up, first: it broke".
std::string failure_words(const result& what);

}  // namespace berth::bench
