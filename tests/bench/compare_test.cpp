#include "sample_report.hpp"

#include <doctest/doctest.h>

using namespace berth::bench;
using namespace berth::test;

namespace {

using kind = change::kind;

report with_ours(double floor, std::vector<double> ours) {
  return sample_report({sample_result("floor", "", around(floor)), sample_result("ours", "floor", std::move(ours))});
}

kind verdict_of_ours(const report& before, const report& now) { return compare(before, now).at(1).verdict; }

}  // namespace

TEST_CASE("compare: ratios are compared, so a machine that slowed everything changes nothing") {
  const auto changes = compare(with_ours(100, around(150)), with_ours(200, around(300)));
  CHECK(changes.at(1).of == "ratio to floor");
  CHECK(changes.at(1).verdict == kind::same);
  CHECK(changes.at(0).of == "p50");
  CHECK(changes.at(0).verdict == kind::worse);
}

TEST_CASE("compare: a change beyond noise has a direction") {
  const auto before = with_ours(100, around(150));
  CHECK(verdict_of_ours(before, with_ours(100, around(180))) == kind::worse);
  CHECK(verdict_of_ours(before, with_ours(100, around(120))) == kind::better);
  CHECK(verdict_of_ours(before, with_ours(100, around(158))) == kind::same);  // less than a tenth
}

TEST_CASE("compare: what differs by a tenth where the intervals meet is unclear") {
  std::vector<double> wide;
  for (int i = 0; i < 10; ++i) wide.push_back(50 + 40 * i);
  std::vector<double> wider;
  for (int i = 0; i < 10; ++i) wider.push_back(70 + 50 * i);
  CHECK(verdict_of_ours(with_ours(100, wide), with_ours(100, wider)) == kind::unclear);
}

TEST_CASE("compare: more is better where it is a rate") {
  const auto slow = sample_report({sample_result("r", "", around(100), better::more)});
  const auto fast = sample_report({sample_result("r", "", around(200), better::more)});
  CHECK(compare(slow, fast).at(0).verdict == kind::better);
  CHECK(compare(fast, slow).at(0).verdict == kind::worse);
}

TEST_CASE("compare: too few samples, and what was not measured then, say nothing") {
  const auto few = with_ours(100, around(150, 5));
  CHECK(verdict_of_ours(few, with_ours(100, around(300))) == kind::unknown);
  const auto other = sample_report({sample_result("other", "", around(1))});
  const auto changes = compare(few, other);
  CHECK(changes.at(0).verdict == kind::unknown);
  CHECK(!changes.at(0).before);
  CHECK(to_text(other, changes).find("unknown  other: p50 not measured then, 1.00 now\n") != std::string::npos);
}

TEST_CASE("differences: another processor, kernel or build is told, nothing else") {
  auto one = sample_report({}).machine;
  one.versions.emplace_back("build", "optimized");
  auto other = one;
  other.date = "another";
  CHECK(differences(one, other).empty());
  other.cpu = "B";
  other.kernel = "Linux 5";
  other.versions.back().second = "not optimized";
  CHECK(differences(one, other).size() == 3);
  CHECK(differences(one, other).at(0) == "compared with a run of another processor: A <processor>, now B");
}
