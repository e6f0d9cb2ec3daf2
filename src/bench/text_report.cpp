#include "bench/figures.hpp"
#include "bench/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace berth::bench {
namespace {

std::string cells_of(const result& what, std::size_t widest) {
  const auto& numbers = what.numbers;
  return fmt::format("{:<{}} {:>7} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}", what.name, widest, what.unit, numbers.n,
                     digits(numbers.min), digits(numbers.p50), digits(numbers.p90), digits(numbers.p99),
                     digits(numbers.max));
}

/// Each on a line of its own, below one another.
std::string ratios_of(const result& what, std::size_t indent) {
  std::string text;
  for (const auto& each : what.ratios) {
    if (!text.empty()) text += '\n' + std::string(indent, ' ');
    text += fmt::format("{:.3f} of {}", each.value, each.base);
    if (each.bar > 0) text += fmt::format(" ({})", verdict_of(each.value, each.bar));
  }
  if (what.limit > 0 && what.numbers.n > 0) {
    text += fmt::format("{}p99 {}", text.empty() ? "" : ", ", verdict_of(what.numbers.p99, what.limit));
  }
  return text;
}

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char each : text) {
    if (each == '"') quoted += '"';
    quoted += each;
  }
  return quoted + '"';
}

}  // namespace

std::string digits(double value) {
  if (value == 0) return "0";
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value < 1000) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string_view word_of(change::kind verdict) {
  switch (verdict) {
    case change::kind::same:
      return "same";
    case change::kind::better:
      return "better";
    case change::kind::worse:
      return "worse";
    case change::kind::unknown:
      break;
  }
  return "unknown";
}

std::string verdict_of(double value, double bar) {
  if (bar <= 0) return "";
  return fmt::format("{} {}", value <= bar ? "within" : "MISSED", bar);
}

std::string to_text(const report& what, const std::vector<change>& changes) {
  std::size_t widest = 20;
  for (const auto& each : what.results) widest = std::max(widest, each.name.size());
  std::string text = fmt::format("{:<{}} {:>7} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n", "bench", widest, "unit", "n",
                                 "min", "p50", "p90", "p99", "max", "ratio, below 1 is better");
  for (const auto& each : what.results) {
    std::string line = cells_of(each, widest) + "  ";
    line += ratios_of(each, line.size());
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  for (const auto& each : changes) {
    fmt::format_to(std::back_inserter(text), "{:<8} {}: {} {} before, {} now\n", word_of(each.verdict), each.name,
                   each.of, digits(each.before), digits(each.now));
  }
  for (const auto& each : what.results) {
    if (each.failures == 0) continue;
    fmt::format_to(std::back_inserter(text), "failed   {}: {} times, first: {}\n", each.name, each.failures,
                   each.first_failure);
  }
  for (const auto& each : what.warnings) text += "warning  " + each + '\n';
  return text;
}

std::string to_csv(const report& what) {
  std::string text = "name,unit,better,n,failures,min,p50,p90,p99,max,base,ratio\n";
  for (const auto& each : what.results) {
    const auto& numbers = each.numbers;
    std::string bases;
    std::string values;
    for (const auto& to : each.ratios) {
      bases += (bases.empty() ? "" : " ") + to.base;
      values += fmt::format("{}{:.4f}", values.empty() ? "" : " ", to.value);
    }
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{:.3f},{:.3f},{:.3f},{:.3f},{:.3f},{},{}\n",
                   field(each.name), field(each.unit), each.direction == better::less ? "less" : "more", numbers.n,
                   each.failures, numbers.min, numbers.p50, numbers.p90, numbers.p99, numbers.max, field(bases),
                   values);
  }
  return text;
}

}  // namespace berth::bench
