#include "bench/figures.hpp"
#include "bench/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace berth::bench {
namespace {

/// With fewer a missed bar says little.
constexpr std::size_t few_samples = 20;

std::string cells_of(const result& what, std::size_t widest) {
  const auto& numbers = what.numbers;
  return fmt::format("{:<{}} {:>7} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}", what.name, widest, what.unit, numbers.n,
                     digits_of(what, numbers.min), digits_of(what, numbers.p50), digits_of(what, numbers.p90),
                     digits_of(what, numbers.p99), digits_of(what, numbers.max));
}

/// Each on a line of its own, below one another.
std::string ratios_of(const report& whole, const result& what, std::size_t indent) {
  std::string text;
  for (const auto& each : what.ratios) {
    if (!text.empty()) text += '\n' + std::string(indent, ' ');
    text += fmt::format("{:.3f} of {}", each.value, each.base);
    if (each.bar <= 0) continue;
    text += fmt::format(" ({})", verdict_of(each.value, each.bar, samples_behind(whole, what, each)));
  }
  if (what.limit > 0 && what.numbers.n > 0) {
    text += fmt::format("{}p99 {}", text.empty() ? "" : ", ", verdict_of(what.numbers.p99, what.limit, what.numbers.n));
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
    case change::kind::unclear:
      return "unclear";
    case change::kind::unknown:
      break;
  }
  return "unknown";
}

std::string digits_of(const result& what, double value) { return what.numbers.n == 0 ? "-" : digits(value); }

std::string before_and_now(const change& what) {
  const auto then = what.before ? digits(*what.before) + " before" : "not measured then";
  const auto today = what.now ? digits(*what.now) + " now" : "not measured now";
  return then + ", " + today;
}

std::string verdict_of(double value, double bar, std::size_t samples) {
  if (bar <= 0) return "";
  if (value <= bar) return fmt::format("within {}", bar);
  return samples < few_samples ? fmt::format("over {}, few samples", bar) : fmt::format("MISSED {}", bar);
}

std::size_t samples_behind(const report& what, const result& ours, const ratio& to) {
  const auto* const base = result_called(what, to.base);
  return base == nullptr ? ours.numbers.n : std::min(ours.numbers.n, base->numbers.n);
}

std::string failure_words(const result& what) {
  return fmt::format("{} times{}, first: {}", what.failures, what.given_up ? ", given up" : "", what.first_failure);
}

std::string to_text(const report& what, const std::vector<change>& changes) {
  std::size_t widest = 20;
  for (const auto& each : what.results) widest = std::max(widest, each.name.size());
  std::string text = fmt::format("{:<{}} {:>7} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8}  {}\n", "bench", widest, "unit", "n",
                                 "min", "p50", "p90", "p99", "max", "ratio, below 1 is better");
  for (const auto& each : what.results) {
    std::string line = cells_of(each, widest) + "  ";
    line += ratios_of(what, each, line.size());
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  for (const auto& each : changes) {
    fmt::format_to(std::back_inserter(text), "{:<8} {}: {} {}\n", word_of(each.verdict), each.name, each.of,
                   before_and_now(each));
  }
  for (const auto& each : what.results) {
    if (each.failures == 0) continue;
    fmt::format_to(std::back_inserter(text), "failed   {}: {}\n", each.name, failure_words(each));
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
