#include "bench/statistics.hpp"

#include <algorithm>

namespace berth::bench {
namespace {

constexpr double least_difference = 0.10;

/// A figure that is better the lower it is, and where it may lie.
struct figure {
  double value = 0;
  std::optional<interval> where = {};
};

figure median_of(const result& what) { return {.value = what.numbers.p50, .where = median_interval(what.samples)}; }

/// Over the other one.
figure divided(const figure& ours, const figure& other) {
  figure quotient{.value = ours.value / other.value};
  if (ours.where && other.where && other.where->low > 0) {
    quotient.where = interval{ours.where->low / other.where->high, ours.where->high / other.where->low};
  }
  return quotient;
}

figure ratio_figure(const result& ours, const result& other) {
  const figure mine = median_of(ours);
  const figure its = median_of(other);
  return ours.direction == better::less ? divided(mine, its) : divided(its, mine);
}

change::kind judge(const figure& before, const figure& now, better direction) {
  if (!before.where || !now.where || before.value <= 0 || now.value <= 0) return change::kind::unknown;
  const double difference = std::max(before.value, now.value) / std::min(before.value, now.value) - 1;
  const bool apart = before.where->high < now.where->low || now.where->high < before.where->low;
  if (difference < least_difference) return change::kind::same;
  if (!apart) return change::kind::unclear;
  const bool fell = now.value < before.value;
  return fell == (direction == better::less) ? change::kind::better : change::kind::worse;
}

/// The first base that both have measured.
const ratio* common_base(const report& before, const result& old, const report& now, const result& ours) {
  for (const auto& each : ours.ratios) {
    const bool then = std::any_of(old.ratios.begin(), old.ratios.end(),
                                  [&](const ratio& earlier) { return earlier.base == each.base; });
    if (then && result_called(before, each.base) != nullptr && result_called(now, each.base) != nullptr) return &each;
  }
  return nullptr;
}

std::optional<double> median_if(const result& what) {
  if (what.numbers.n == 0) return std::nullopt;
  return what.numbers.p50;
}

change compare_one(const report& before, const result& old, const report& now, const result& ours) {
  change found{.name = ours.name, .of = "p50", .before = median_if(old), .now = median_if(ours)};
  const ratio* const base = common_base(before, old, now, ours);
  if (base == nullptr) {
    found.verdict = judge(median_of(old), median_of(ours), ours.direction);
    return found;
  }
  const figure then = ratio_figure(old, *result_called(before, base->base));
  const figure today = ratio_figure(ours, *result_called(now, base->base));
  found.of = "ratio to " + base->base;
  found.before = then.value;
  found.now = today.value;
  found.verdict = judge(then, today, better::less);
  return found;
}

std::string build_of(const environment& machine) {
  for (const auto& [what, version] : machine.versions) {
    if (what == "build") return version;
  }
  return "unknown";
}

}  // namespace

std::vector<std::string> differences(const environment& before, const environment& now) {
  std::vector<std::string> found;
  const auto tell = [&](const char* what, const std::string& then, const std::string& today) {
    if (then != today) found.push_back("compared with a run of another " + (what + (": " + then)) + ", now " + today);
  };
  tell("processor", before.cpu, now.cpu);
  tell("kernel", before.kernel, now.kernel);
  tell("build", build_of(before), build_of(now));
  return found;
}

std::vector<change> compare(const report& before, const report& now) {
  std::vector<change> changes;
  for (const auto& each : now.results) {
    const result* const old = result_called(before, each.name);
    if (old == nullptr || old->unit != each.unit || old->direction != each.direction) {
      changes.push_back({.name = each.name, .of = "p50", .now = median_if(each)});
    } else {
      changes.push_back(compare_one(before, *old, now, each));
    }
  }
  return changes;
}

}  // namespace berth::bench
