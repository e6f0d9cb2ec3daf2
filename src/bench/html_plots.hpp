#pragma once
/// Plots as SVG. Places are percents of the width, so that a plot is as wide as its page and its letters stay as large as they are.

#include <berth/bench.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace berth::bench {

std::string escaped(std::string_view text);

/// "1.53 ms" for 1532 us; other units stay as they are.
std::string with_unit(double value, std::string_view unit);

/// Values on a line from 2 % to 98 %, by their logarithm where they are far apart.
class scale {
 public:
  scale(double low, double high);

  double percent(double value) const;
  bool is_logarithmic() const noexcept { return logarithmic_; }
  double low() const noexcept { return low_; }
  double high() const noexcept { return high_; }

 private:
  double low_;
  double high_;
  bool logarithmic_;
};

/// Samples as points, hollow for a base; the middle half as a box with the median; marks at p90 and p99.
std::string distribution_plot(const result& what, const scale& along, bool is_base);

/// From 0 to the ratio, with a line at 1 and a diamond at the bar.
std::string ratio_plot(const ratio& what, double most);
/// What stands below such plots.
std::string ratio_axis(double most);

struct curve_value {
  double x = 0;
  bool is_size = false;
  const result* what = nullptr;
};

/// Medians with their p90, both axes logarithmic, each point with its figure.
std::string curve_plot(const std::vector<curve_value>& points);

/// "64", or "1 MiB".
std::string curve_label(const curve_value& point);

}  // namespace berth::bench
