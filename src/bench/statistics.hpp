#pragma once
/// What samples say beyond their percentiles.

#include <berth/bench.hpp>

#include <optional>

namespace berth::bench {

/// Fills in the numbers, the ratios (whose bases and bars are there already) and the warnings.
void conclude(report& what);

/// Where the true median lies with 95 % confidence; nothing below 6 samples.
struct interval {
  double low = 0;
  double high = 0;
};
std::optional<interval> median_interval(std::vector<double> samples);

/// How many lie further above the upper quartile than three times the middle half is wide.
std::size_t outliers(std::vector<double> samples);

const result* result_called(const report& what, std::string_view name);

}  // namespace berth::bench
