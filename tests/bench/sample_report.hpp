#pragma once
/// A report as a run would give it.

#include "bench/statistics.hpp"

#include <string>
#include <utility>
#include <vector>

namespace berth::test {

inline bench::result sample_result(std::string name, std::string base, std::vector<double> samples,
                                   bench::better direction = bench::better::less) {
  bench::result one{.name = std::move(name),
                    .unit = direction == bench::better::less ? "us" : "MB/s",
                    .direction = direction,
                    .samples = std::move(samples)};
  if (!base.empty()) one.ratios.push_back({.base = std::move(base), .bar = 1.2});
  return one;
}

/// So many samples around a middle, within a hundredth of it.
inline std::vector<double> around(double middle, int count = 30) {
  std::vector<double> samples;
  for (int i = 0; i < count; ++i) samples.push_back(middle * (0.99 + 0.02 * i / count));
  return samples;
}

inline bench::report sample_report(std::vector<bench::result> results) {
  bench::report report;
  report.results = std::move(results);
  report.machine = {
      .kernel = "Linux 6.1", .cpu = "A <processor>", .cores = 4, .load = 0.5, .date = "2026-01-31T12:00:00Z"};
  report.machine.versions.emplace_back("berth", "0.1.0");
  bench::conclude(report);
  return report;
}

}  // namespace berth::test
