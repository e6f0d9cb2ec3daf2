#include "bench/curve.hpp"
#include "bench/figures.hpp"
#include "bench/html_plots.hpp"
#include "bench/html_style.hpp"
#include "bench/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

namespace berth::bench {
namespace {

using results = std::vector<const result*>;

/// A ratio beyond it would make the others too small to be read; its bar ends in an arrow.
constexpr double most_shown = 4;

/// What others stand on, and which stands on nothing itself.
bool is_base(const report& what, const result& one) {
  if (!one.ratios.empty()) return false;
  return std::any_of(what.results.begin(), what.results.end(), [&](const result& each) {
    return std::any_of(each.ratios.begin(), each.ratios.end(), [&](const ratio& to) { return to.base == one.name; });
  });
}

/// Points of a curve, three at least; the results that are none stay.
std::map<std::string, std::vector<curve_value>> take_curves(results& all) {
  std::map<std::string, std::vector<curve_value>> curves;
  for (const auto* each : all) {
    const auto point = curve_point_of(each->name);
    if (point && point->x > 0 && each->numbers.p50 > 0)
      curves[point->curve].push_back({point->x, point->is_size, each});
  }
  std::erase_if(curves, [](const auto& each) { return each.second.size() < 3; });
  for (auto& [name, points] : curves) {
    std::sort(points.begin(), points.end(), [](const auto& left, const auto& right) { return left.x < right.x; });
    for (const auto& each : points) std::erase(all, each.what);
  }
  return curves;
}

void add_facts(std::string& page, const report& what) {
  const auto& machine = what.machine;
  page += R"(<dl class="facts">)";
  const auto add = [&](std::string_view name, std::string_view value) {
    fmt::format_to(std::back_inserter(page), "<dt>{}</dt><dd>{}</dd>", escaped(name), escaped(value));
  };
  add("Processor", fmt::format("{}, {} cores, load {:.2f}", machine.cpu, machine.cores, machine.load));
  add("Kernel", machine.kernel);
  for (const auto& [name, version] : machine.versions) add(name, version);
  add("Measured", machine.date);
  page += "</dl>\n";
}

void add_warnings(std::string& page, const report& what) {
  if (what.warnings.empty() && what.ok()) return;
  page += R"(<section class="warnings"><h2>What makes these figures doubtful</h2><ul>)";
  for (const auto& each : what.warnings) page += "<li>" + escaped(each) + "</li>";
  for (const auto& each : what.results) {
    if (each.failures == 0) continue;
    fmt::format_to(std::back_inserter(page), "<li>{}: failed {}</li>", escaped(each.name),
                   escaped(failure_words(each)));
  }
  page += "</ul></section>\n";
}

/// What shares a unit shares a scale.
scale scale_of(const results& shown) {
  double low = 0;
  double high = 0;
  for (const auto* each : shown) {
    if (each->samples.empty()) continue;
    low = low == 0 ? each->numbers.min : std::min(low, each->numbers.min);
    high = std::max(high, each->numbers.n >= 50 ? each->numbers.p99 : each->numbers.max);
  }
  return scale(low, high);
}

std::string limit_words(const result& what) {
  return what.limit > 0 && what.numbers.n > 0 ? ", " + verdict_of(what.numbers.p99, what.limit, what.numbers.n) : "";
}

std::string figure_of(const result& what, double value) {
  return what.numbers.n == 0 ? "-" : escaped(with_unit(value, what.unit));
}

void add_distributions(std::string& page, const report& what, const results& shown) {
  const auto along = scale_of(shown);
  const auto& unit = shown.front()->unit;
  const char* const direction = shown.front()->direction == better::less ? "less is better" : "more is better";
  for (const auto* each : shown) {
    fmt::format_to(std::back_inserter(page), R"(<div class="row"><b>{}<small>{} samples</small></b>{})",
                   escaped(each->name), each->numbers.n, distribution_plot(*each, along, is_base(what, *each)));
    fmt::format_to(std::back_inserter(page),
                   R"(<div class="figures"><b>{}</b><small>p90 {}</small><small>p99 {}{}</small></div></div>)",
                   figure_of(*each, each->numbers.p50), figure_of(*each, each->numbers.p90),
                   figure_of(*each, each->numbers.p99), limit_words(*each));
  }
  fmt::format_to(
      std::back_inserter(page),
      R"(<div class="ends row"><span></span><div class="inner"><span>{}</span><span>{}{}</span><span>{}</span></div></div>)",
      escaped(with_unit(along.low(), unit)), direction, along.is_logarithmic() ? ", logarithmic" : "",
      escaped(with_unit(along.high(), unit)));
  page += '\n';
}

std::string ratio_words(const ratio& what, std::size_t samples) {
  if (what.bar <= 0) return fmt::format("<b>{:.2f}</b>", what.value);
  return fmt::format("<b>{:.2f}</b><small>{}</small>", what.value, verdict_of(what.value, what.bar, samples));
}

void add_ratios(std::string& page, const report& what, const results& shown) {
  double most = 1.3;
  bool any = false;
  for (const auto* each : shown) {
    for (const auto& to : each->ratios) {
      most = std::max({most, to.value * 1.05, to.bar * 1.1});
      any = true;
    }
  }
  if (!any) return;
  most = std::min(most, most_shown);
  page += "<h3>Ratio to the base</h3>\n";
  for (const auto* each : shown) {
    for (const auto& to : each->ratios) {
      fmt::format_to(std::back_inserter(page),
                     R"(<div class="row"><b>{}<small>to {}</small></b>{}<div class="figures">{}</div></div>)",
                     escaped(each->name), escaped(to.base), ratio_plot(to, most),
                     ratio_words(to, samples_behind(what, *each, to)));
      page += '\n';
    }
  }
  page += R"(<div class="ends row"><span></span>)" + ratio_axis(most) + "</div>\n";
}

void add_group(std::string& page, const report& what, const std::string& name, const results& shown) {
  fmt::format_to(std::back_inserter(page), "<section><h2>{}</h2>\n", escaped(name));
  std::map<std::string, results> of_unit;
  for (const auto* each : shown) of_unit[each->unit].push_back(each);
  for (const auto& [unit, some] : of_unit) add_distributions(page, what, some);
  add_ratios(page, what, shown);
  page += "</section>\n";
}

void add_curve(std::string& page, const std::string& name, const std::vector<curve_value>& points) {
  const bool is_size = points.front().is_size;
  fmt::format_to(
      std::back_inserter(page),
      "<section><h2>{}: cost against {}</h2><figure style=\"margin:0\">{}<figcaption>The median of each, and p90 "
      "as a dotted line; both axes are logarithmic. {}</figcaption></figure></section>\n",
      escaped(name), is_size ? "output size" : "concurrency", curve_plot(points),
      is_size ? "Each point is one whole command." : "Each point is the time of all, divided by their number.");
}

/// The parts before the slash, in the order of the results.
std::vector<std::pair<std::string, results>> groups_in(const results& all) {
  std::vector<std::pair<std::string, results>> groups;
  for (const auto* each : all) {
    const auto name = each->name.substr(0, each->name.find('/'));
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == name; });
    if (found == groups.end()) found = groups.insert(groups.end(), {name, {}});
    found->second.push_back(each);
  }
  return groups;
}

void add_table(std::string& page, const report& what, const std::vector<change>& changes) {
  page += R"(<section><h2>All figures</h2><div class="scroll"><table><thead><tr><th>bench</th><th>unit</th><th>n</th>)"
          "<th>failures</th><th>min</th><th>p50</th><th>p90</th><th>p99</th><th>max</th><th>ratio</th></tr></"
          "thead><tbody>\n";
  for (const auto& each : what.results) {
    const auto& numbers = each.numbers;
    fmt::format_to(std::back_inserter(page), "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>", escaped(each.name),
                   escaped(each.unit), numbers.n, each.failures);
    for (const double value : {numbers.min, numbers.p50, numbers.p90, numbers.p99, numbers.max}) {
      page += "<td>" + digits_of(each, value) + "</td>";
    }
    std::string text;
    for (const auto& to : each.ratios) {
      text += fmt::format("{}{:.3f} of {}", text.empty() ? "" : ", ", to.value, escaped(to.base));
    }
    page += "<td>" + text + "</td></tr>\n";
  }
  page += "</tbody></table></div></section>\n";
  if (changes.empty()) return;
  page +=
      R"(<section><h2>Changes</h2><p class="quiet">Beyond noise: by a tenth at least, and the intervals of both do not meet. Unclear: by a tenth, but they meet.</p>)"
      R"(<div class="scroll"><table><thead><tr><th>bench</th><th>before</th><th>now</th><th></th></tr></thead><tbody>)";
  for (const auto& each : changes) {
    fmt::format_to(std::back_inserter(page),
                   "<tr><td>{}, {}</td><td>{}</td><td>{}</td><td><span class=\"{}\">{}</span></td></tr>\n",
                   escaped(each.name), escaped(each.of), each.before ? digits(*each.before) : "not measured then",
                   each.now ? digits(*each.now) : "not measured now", word_of(each.verdict), word_of(each.verdict));
  }
  page += "</tbody></table></div></section>\n";
}

}  // namespace

std::string to_html(const report& what, const std::vector<change>& changes) {
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><title>Berth: benchmarks</title><style>";
  page += page_style;
  page += "</style></head><body>";
  page += page_patterns;
  page +=
      "<main><h1>Berth: benchmarks</h1>\n"
      "<p>What is compared took turns, one sample each. A ratio compares medians and is turned so that below 1 is "
      "always "
      "better than the base, whether less or more is good.</p>\n";
  add_facts(page, what);
  add_warnings(page, what);
  page +=
      "<p class=\"quiet\">Points are samples, hollow ones those of a base; the box holds the middle half, the thick "
      "line is "
      "the median, the two ticks are p90 and p99. On a ratio the dashed line is 1, and the diamond is the bar that we "
      "hold "
      "ourselves to; what misses it is hatched.</p>\n";
  results shown;
  for (const auto& each : what.results) shown.push_back(&each);
  const auto curves = take_curves(shown);
  for (const auto& [name, some] : groups_in(shown)) add_group(page, what, name, some);
  for (const auto& [name, points] : curves) add_curve(page, name, points);
  add_table(page, what, changes);
  return page + "</main></body></html>\n";
}

}  // namespace berth::bench
