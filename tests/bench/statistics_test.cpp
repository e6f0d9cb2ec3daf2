#include "bench/statistics.hpp"

#include "bench/curve.hpp"
#include "bench/rounds.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <string>

using namespace berth;
using namespace berth::bench;

namespace {

std::vector<double> from_to(int first, int last) {
  std::vector<double> samples;
  for (int i = last; i >= first; --i) samples.push_back(i);
  return samples;
}

bench::result measured(std::string name, better direction, std::vector<double> samples, std::string base = {}) {
  bench::result one{.name = std::move(name), .unit = "us", .direction = direction, .samples = std::move(samples)};
  if (!base.empty()) one.ratios.push_back({.base = std::move(base)});
  return one;
}

std::vector<std::string> names_of(const std::vector<subject>& subjects) {
  std::vector<std::string> names;
  for (const auto& each : subjects) names.push_back(each.name);
  return names;
}

const std::vector<subject> some = {{.name = "a/floor"},
                                   {.name = "b/curve-1"},
                                   {.name = "a/host", .bases = {{"a/floor"}}},
                                   {.name = "b/curve-64"},
                                   {.name = "a/host-large", .bases = {{"a/host"}}}};

}  // namespace

TEST_CASE("summarize: percentiles are samples, by nearest rank") {
  const auto numbers = summarize(from_to(1, 100));
  CHECK(numbers.n == 100);
  CHECK(numbers.min == 1);
  CHECK(numbers.p50 == 50);
  CHECK(numbers.p90 == 90);
  CHECK(numbers.p99 == 99);
  CHECK(numbers.max == 100);
  CHECK(summarize({7}).p99 == 7);
  CHECK(summarize({}).n == 0);
}

TEST_CASE("conclude: a ratio below 1 is better, whether less or more is good") {
  bench::report report;
  report.results = {measured("floor", better::less, {100}), measured("ours", better::less, {50}, "floor"),
                    measured("slow rate", better::more, {100}),
                    measured("fast rate", better::more, {200}, "slow rate")};
  conclude(report);
  CHECK(report.results[1].ratios.at(0).value == 0.5);
  CHECK(report.results[3].ratios.at(0).value == 0.5);
}

TEST_CASE("conclude: no ratio to what was not measured or has no samples") {
  bench::report report;
  report.results = {measured("floor", better::less, {}), measured("a", better::less, {50}, "floor"),
                    measured("b", better::less, {50}, "nowhere")};
  conclude(report);
  CHECK(report.results[1].ratios.empty());
  CHECK(report.results[2].ratios.empty());
}

TEST_CASE("conclude: outliers and load are warned of") {
  bench::report report;
  auto samples = from_to(100, 110);
  samples.insert(samples.end(), {1000, 1200});
  report.results = {measured("jumpy", better::less, samples), measured("calm", better::less, from_to(100, 110))};
  report.machine.cores = 2;
  report.machine.load = 2.5;
  conclude(report);
  REQUIRE(report.warnings.size() == 2);
  CHECK(report.warnings[0] == "the machine was busy: a load of 2.5 on 2 processors");
  CHECK(report.warnings[1] == "jumpy: 2 of 13 samples are outliers, far above the rest");
}

TEST_CASE("median_interval: narrows with the number of samples, and needs six") {
  CHECK(!median_interval(from_to(1, 5)));
  const auto few = median_interval(from_to(1, 10));
  const auto many = median_interval(from_to(1, 1000));
  REQUIRE((few && many));
  CHECK(few->low == 1);
  CHECK(few->high == 10);
  CHECK(many->low > 460);
  CHECK(many->high < 540);
}

TEST_CASE("choose: a named bench brings its bases, and nothing else") {
  CHECK(names_of(choose(some, {"a/host"})) == std::vector<std::string>{"a/floor", "a/host"});
  CHECK(names_of(choose(some, {"a/host-"})) == std::vector<std::string>{"a/floor", "a/host", "a/host-large"});
  CHECK(names_of(choose(some, {"b"})) == std::vector<std::string>{"b/curve-1", "b/curve-64"});
  CHECK(choose(some, {}).size() == some.size());
}

TEST_CASE("choose: a name is a bench, else a group, else a beginning") {
  const std::vector<subject> suite = {{.name = "exec/host"}, {.name = "exec/host-2"}, {.name = "exec64/host"}};
  CHECK(names_of(choose(suite, {"exec/host"})) == std::vector<std::string>{"exec/host"});
  CHECK(names_of(choose(suite, {"exec"})) == std::vector<std::string>{"exec/host", "exec/host-2"});
  CHECK(names_of(choose(suite, {"exec/h"})) == std::vector<std::string>{"exec/host", "exec/host-2"});
  CHECK(names_of(choose(suite, {"exe"})).size() == 3);
}

TEST_CASE("choose: a name that fits nothing, and a base that is not there, are errors") {
  CHECK_THROWS_WITH_AS(choose(some, {"c"}), doctest::Contains("no bench is called 'c'"), error);
  CHECK_THROWS_AS(choose(some, {""}), error);
  CHECK_THROWS_AS(choose({{.name = "x", .bases = {{"y"}}}}, {}), error);
}

TEST_CASE("groups_of: what is compared takes turns") {
  const std::vector<std::vector<std::size_t>> expected = {{0, 2, 4}, {1, 3}};
  CHECK(groups_of(some) == expected);
}

TEST_CASE("curve_point_of: a number at the end of a name, sizes with a letter") {
  const auto count = curve_point_of("exec/curve-64");
  REQUIRE(count);
  CHECK(count->curve == "exec/curve");
  CHECK(count->x == 64);
  CHECK(!count->is_size);
  const auto size = curve_point_of("stream/size-2m");
  REQUIRE(size);
  CHECK(size->x == 2.0 * 1024 * 1024);
  CHECK(size->is_size);
  for (const char* name : {"exec/host-2gib", "exec", "exec-", "-64", "exec-k"}) {
    CAPTURE(name);
    CHECK(!curve_point_of(name));
  }
}
