#include "bench/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace berth::bench {
namespace {

constexpr double many_outliers = 0.1;

/// Of sorted samples.
double nearest_rank(const std::vector<double>& sorted, double part) {
  const auto nth = static_cast<std::size_t>(std::ceil(part * static_cast<double>(sorted.size())));
  return sorted[nth == 0 ? 0 : nth - 1];
}

double ratio_of(const result& ours, const result& other) {
  if (ours.numbers.p50 <= 0 || other.numbers.p50 <= 0) return 0;
  return ours.direction == better::less ? ours.numbers.p50 / other.numbers.p50 : other.numbers.p50 / ours.numbers.p50;
}

void find_ratios(report& what) {
  for (auto& each : what.results) {
    for (auto& to : each.ratios) {
      const auto* other = result_called(what, to.base);
      if (other != nullptr) to.value = ratio_of(each, *other);
    }
    std::erase_if(each.ratios, [](const ratio& to) { return to.value <= 0; });
  }
}

}  // namespace

summary summarize(std::vector<double> samples) {
  summary numbers;
  numbers.n = samples.size();
  if (samples.empty()) return numbers;
  std::sort(samples.begin(), samples.end());
  numbers.min = samples.front();
  numbers.p50 = nearest_rank(samples, 0.5);
  numbers.p90 = nearest_rank(samples, 0.9);
  numbers.p99 = nearest_rank(samples, 0.99);
  numbers.max = samples.back();
  return numbers;
}

std::optional<interval> median_interval(std::vector<double> samples) {
  if (samples.size() < 6) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  const auto n = static_cast<double>(samples.size());
  // Ranks of a binomial distribution, by the normal one.
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(1.0, std::floor(n / 2 - reach)));
  const auto high = static_cast<std::size_t>(std::min(n, std::ceil(n / 2 + 1 + reach)));
  return interval{samples[low - 1], samples[high - 1]};
}

std::size_t outliers(std::vector<double> samples) {
  if (samples.size() < 8) return 0;
  std::sort(samples.begin(), samples.end());
  const double upper = nearest_rank(samples, 0.75);
  const double fence = upper + 3 * (upper - nearest_rank(samples, 0.25));
  return static_cast<std::size_t>(samples.end() - std::upper_bound(samples.begin(), samples.end(), fence));
}

const result* result_called(const report& what, std::string_view name) {
  const auto found =
      std::find_if(what.results.begin(), what.results.end(), [&](const result& each) { return each.name == name; });
  return found == what.results.end() ? nullptr : &*found;
}

void conclude(report& what) {
  for (auto& each : what.results) each.numbers = summarize(each.samples);
  find_ratios(what);
  if (what.machine.load > what.machine.cores) {
    what.warnings.push_back(
        fmt::format("the machine was busy: a load of {:.1f} on {} processors", what.machine.load, what.machine.cores));
  }
  for (const auto& each : what.results) {
    const auto far = outliers(each.samples);
    if (static_cast<double>(far) <= many_outliers * static_cast<double>(each.samples.size())) continue;
    what.warnings.push_back(
        fmt::format("{}: {} of {} samples are outliers, far above the rest", each.name, far, each.samples.size()));
  }
  if (what.interrupted) what.warnings.push_back("interrupted: some samples are missing");
}

bool report::ok() const noexcept {
  return std::all_of(results.begin(), results.end(), [](const result& each) { return each.failures == 0; });
}

}  // namespace berth::bench
