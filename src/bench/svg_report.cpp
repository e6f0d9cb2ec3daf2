#include "bench/html_plots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace berth::bench {
namespace {

constexpr int width = 760;
constexpr int row_height = 26;
constexpr int head = 44;
constexpr int names_end = 400;  // where the bars begin
constexpr int bars_end = 690;
/// A longer bar ends in an arrow.
constexpr double most_shown = 2;

constexpr const char* style = R"(<style>
text { font: 13px system-ui, sans-serif; fill: #1b2430; } .quiet { fill: #596575; } .figure { font-weight: 600; }
.page { fill: #ffffff; } .ratio { fill: #1d5ea8; } .missed { fill: none; stroke: #b4470f; stroke-width: 2; }
.one { stroke: #1b2430; stroke-width: 1.5; stroke-dasharray: 4 3; } .bar { fill: #ffffff; stroke: #1b2430; stroke-width: 1.5; }
@media (prefers-color-scheme: dark) {
text { fill: #e7ebf1; } .quiet { fill: #9ba7b6; } .page { fill: #11151b; } .ratio { fill: #6fb1f5; }
.missed { stroke: #f39b63; } .one { stroke: #e7ebf1; } .bar { fill: #11151b; stroke: #e7ebf1; } }
</style>)";

double across(double ratio) { return names_end + (bars_end - names_end) * std::min(ratio, most_shown) / most_shown; }

void add_ratio(std::string& svg, const std::string& name, const ratio& to, int top) {
  const bool missed = to.bar > 0 && to.value > to.bar;
  const auto out = std::back_inserter(svg);
  fmt::format_to(out, R"(<text x="{}" y="{}" text-anchor="end">{} <tspan class="quiet">to {}</tspan></text>)",
                 names_end - 10, top + 17, escaped(name), escaped(to.base));
  fmt::format_to(out, R"(<rect class="{}" x="{}" y="{}" width="{:.1f}" height="14"/>)", missed ? "missed" : "ratio",
                 names_end, top + 6, across(to.value) - names_end);
  if (to.bar > 0) {
    fmt::format_to(out, R"svg(<path class="bar" transform="translate({:.1f} {})" d="M0 -8L5 0L0 8L-5 0Z"/>)svg",
                   across(to.bar), top + 13);
  }
  fmt::format_to(out, R"(<text class="figure" x="{}" y="{}">{}{:.2f}</text>)", bars_end + 12, top + 17,
                 to.value > most_shown ? "▸ " : "", to.value);
  svg += '\n';
}

}  // namespace

std::string to_svg(const report& what) {
  int top = head;
  std::string rows;
  for (const auto& each : what.results) {
    for (const auto& to : each.ratios) {
      add_ratio(rows, each.name, to, top);
      top += row_height;
    }
  }
  std::string svg = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0}" height="{1}" viewBox="0 0 {0} {1}" role="img" )"
      R"(aria-label="Ratios to the bases, below 1 is better">{2}<rect class="page" width="{0}" height="{1}"/>)",
      width, top + 40, style);
  const double one = across(1);
  fmt::format_to(std::back_inserter(svg),
                 R"(<text class="quiet" x="{}" y="26">better</text><text class="quiet" x="{:.1f}" y="26" )"
                 R"(text-anchor="middle">1</text>)",
                 names_end, one);
  svg += rows;
  fmt::format_to(std::back_inserter(svg), R"(<line class="one" x1="{0:.1f}" x2="{0:.1f}" y1="34" y2="{1}"/>)", one,
                 top + 4);
  fmt::format_to(
      std::back_inserter(svg),
      R"(<text class="quiet" x="10" y="{}">{}, {} cores, {}. The diamond is the bar; what misses it is hollow.</text>)",
      top + 26, escaped(what.machine.kernel), what.machine.cores, escaped(what.machine.date.substr(0, 10)));
  return svg + "</svg>\n";
}

}  // namespace berth::bench
