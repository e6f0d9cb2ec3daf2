#include "bench/html_plots.hpp"

#include "bench/figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace berth::bench {
namespace {

constexpr std::size_t most_points = 120;
constexpr double far_apart = 12;

/// Of sorted samples.
double part_of(const std::vector<double>& sorted, double part) {
  return sorted[static_cast<std::size_t>(part * static_cast<double>(sorted.size() - 1))];
}

void add_line(std::string& svg, std::string_view kind, double x, int top, int bottom) {
  fmt::format_to(std::back_inserter(svg), R"(<line class="{}" x1="{:.2f}%" x2="{:.2f}%" y1="{}" y2="{}"/>)", kind, x, x,
                 top, bottom);
}

/// So many of the samples, in their order, spread over a few heights.
void add_points(std::string& svg, const std::vector<double>& samples, const scale& along, bool is_base) {
  const std::size_t step = samples.size() / most_points + 1;
  for (std::size_t i = 0; i < samples.size(); i += step) {
    if (samples[i] > along.high()) continue;
    fmt::format_to(std::back_inserter(svg), R"(<circle class="{}" cx="{:.2f}%" cy="{}" r="2.5"/>)",
                   is_base ? "hollow" : "dot", along.percent(samples[i]), 34 + 5 * (i / step % 4));
  }
}

double ratio_percent(double value, double most) { return 98 * std::min(value, most) / most; }

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char each : text) {
    switch (each) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += each;
    }
  }
  return safe;
}

std::string with_unit(double value, std::string_view unit) {
  if (unit == "us" && value >= 1e6) return fmt::format("{} s", digits(value / 1e6));
  if (unit == "us" && value >= 1e3) return fmt::format("{} ms", digits(value / 1e3));
  if (unit == "us") return fmt::format("{} µs", digits(value));
  return fmt::format("{} {}", digits(value), unit);
}

scale::scale(double low, double high) : low_(low), high_(std::max(high, low)) {
  logarithmic_ = low_ > 0 && high_ / low_ > far_apart;
  if (!logarithmic_ && high_ - low_ < high_ * 0.01) low_ = high_ * 0.99 - 1e-9;
}

double scale::percent(double value) const {
  const double inside = std::clamp(value, low_, high_);
  const double part =
      logarithmic_ ? std::log(inside / low_) / std::log(high_ / low_) : (inside - low_) / std::max(high_ - low_, 1e-12);
  return 2 + 96 * part;
}

std::string distribution_plot(const result& what, const scale& along, bool is_base) {
  if (what.samples.empty()) return R"(<p class="none">no samples</p>)";
  auto sorted = what.samples;
  std::sort(sorted.begin(), sorted.end());
  const double left = along.percent(part_of(sorted, 0.25));
  const double right = along.percent(part_of(sorted, 0.75));
  std::string svg =
      fmt::format(R"(<svg class="strip" height="58" role="img" aria-label="{}: median {}, p90 {}, p99 {}">)",
                  escaped(what.name), digits(what.numbers.p50), digits(what.numbers.p90), digits(what.numbers.p99));
  fmt::format_to(std::back_inserter(svg), R"(<line class="range" x1="{:.2f}%" x2="{:.2f}%" y1="15" y2="15"/>)",
                 along.percent(sorted.front()), along.percent(sorted.back()));
  fmt::format_to(std::back_inserter(svg), R"(<rect class="{}" x="{:.2f}%" width="{:.2f}%" y="7" height="16"/>)",
                 is_base ? "box base" : "box", left, std::max(right - left, 0.3));
  add_line(svg, "median", along.percent(what.numbers.p50), 3, 27);
  add_line(svg, "tick", along.percent(what.numbers.p90), 9, 21);
  add_line(svg, "tick", along.percent(what.numbers.p99), 11, 19);
  add_points(svg, what.samples, along, is_base);
  return svg + "</svg>";
}

std::string ratio_plot(const ratio& what, double most) {
  const auto percent = [&](double value) { return ratio_percent(value, most); };
  const bool missed = what.bar > 0 && what.value > what.bar;
  std::string svg = fmt::format(R"(<svg class="strip" height="30" role="img" aria-label="{:.2f} of {}">)", what.value,
                                escaped(what.base));
  fmt::format_to(std::back_inserter(svg), R"(<rect class="{}" x="0" width="{:.2f}%" y="7" height="16"/>)",
                 missed ? "ratio missed" : "ratio", percent(what.value));
  if (what.value > most) svg += R"(<text x="99.5%" y="20">▸</text>)";
  add_line(svg, "one", percent(1), 0, 30);
  if (what.bar > 0) {
    fmt::format_to(std::back_inserter(svg),
                   R"(<svg x="{:.2f}%" y="15" overflow="visible"><path class="bar" d="M0 -9L6 0L0 9L-6 0Z"/></svg>)",
                   percent(what.bar));
  }
  return svg + "</svg>";
}

std::string ratio_axis(double most) {
  const double one = ratio_percent(1, most);
  std::string svg =
      fmt::format(R"(<svg class="strip" height="20"><text class="axis" x="{:.2f}%" y="14">1</text>)", one);
  if (one > 30)
    fmt::format_to(std::back_inserter(svg), R"(<text class="axis" x="{:.2f}%" y="14">better</text>)", one / 2);
  return svg + "</svg>";
}

std::string curve_label(const curve_value& point) {
  if (!point.is_size) return fmt::format("{:.0f}", point.x);
  double value = point.x;
  std::size_t unit = 0;
  constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
  for (; value >= 1024 && unit < 3; ++unit) value /= 1024;
  return fmt::format("{:.0f} {}", value, units[unit]);
}

std::string curve_plot(const std::vector<curve_value>& points) {
  const auto& first = *points.front().what;
  double low = first.numbers.p50;
  double high = first.numbers.p90;
  for (const auto& each : points) {
    low = std::min(low, each.what->numbers.p50);
    high = std::max(high, each.what->numbers.p90);
  }
  const double widest = std::log(points.back().x / points.front().x);
  const double tallest = std::max(std::log(high / low), 0.2);
  const auto across = [&](double x) { return 8 + 84 * std::log(x / points.front().x) / std::max(widest, 1e-9); };
  const auto up = [&](double y) { return 82 - 62 * std::log(y / low) / tallest; };
  std::string svg = fmt::format(R"(<svg class="curve" height="230" role="img" aria-label="{}">)", escaped(first.name));
  const auto join = [&](const curve_value& from, const curve_value& to, double summary::*figure, const char* kind) {
    fmt::format_to(std::back_inserter(svg), R"(<line class="{}" x1="{:.2f}%" y1="{:.2f}%" x2="{:.2f}%" y2="{:.2f}%"/>)",
                   kind, across(from.x), up(from.what->numbers.*figure), across(to.x), up(to.what->numbers.*figure));
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    join(points[i - 1], points[i], &summary::p90, "curve p90");
    join(points[i - 1], points[i], &summary::p50, "curve p50");
  }
  for (const auto& each : points) {
    const double y = up(each.what->numbers.p50);
    fmt::format_to(std::back_inserter(svg), R"(<circle class="dot" cx="{:.2f}%" cy="{:.2f}%" r="5"/>)", across(each.x),
                   y);
    fmt::format_to(std::back_inserter(svg), R"(<text x="{:.2f}%" y="{:.2f}%" dy="-10">{}</text>)", across(each.x),
                   up(each.what->numbers.p90), with_unit(each.what->numbers.p50, each.what->unit));
    fmt::format_to(std::back_inserter(svg), R"(<text class="axis" x="{:.2f}%" y="97%">{}</text>)", across(each.x),
                   curve_label(each));
  }
  return svg + "</svg>";
}

}  // namespace berth::bench
