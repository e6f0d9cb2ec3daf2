#include "core/json.hpp"
#include "sample_report.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::bench;
using namespace berth::test;

namespace {

report two() {
  return sample_report({sample_result("a/floor", "", {1, 2, 3}), sample_result("a/host", "a/floor", {4, 4.0004, 5})});
}

std::vector<std::string> names_of(const json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.as_object()) names.push_back(name);
  return names;
}

}  // namespace

TEST_CASE("to_json: the document has exactly these members") {
  auto report = two();
  report.results[1].failures = 2;
  const json document = json::parse(to_json(report));
  CHECK(names_of(document) == std::vector<std::string>{"results", "environment", "warnings", "interrupted"});
  const json& host = document.at("results").as_array().at(1);
  CHECK(names_of(host) == std::vector<std::string>{"name", "unit", "better", "n", "failures", "min", "p50", "p90",
                                                   "p99", "max", "ratios", "bars", "samples"});
  CHECK(names_of(document.at("environment")) ==
        std::vector<std::string>{"kernel", "cpu", "cores", "load", "versions", "date"});
  CHECK(host.dump() == R"({"name":"a/host","unit":"us","better":"less","n":3,"failures":2,"min":4,"p50":4,"p90":5,)"
                       R"("p99":5,"max":5,"ratios":{"a/floor":2.0002E0},"bars":{"a/floor":1.2E0},"samples":[4,4,5]})");
}

TEST_CASE("to_json: without samples there are no figures") {
  const auto report = sample_report({sample_result("a", "", {})});
  const json document = json::parse(to_json(report));
  CHECK(document.at("results").as_array().at(0).at("p50").is_null());
  CHECK(from_json(to_json(report)).results.at(0).numbers.n == 0);
}

TEST_CASE("from_json: gives back what was written") {
  const auto read = from_json(to_json(two()));
  REQUIRE(read.results.size() == 2);
  CHECK(read.results[1].name == "a/host");
  CHECK(read.results[1].samples == std::vector<double>{4, 4, 5});
  CHECK(read.results[1].ratios.at(0).base == "a/floor");
  CHECK(read.results[1].numbers.p50 == 4);
  CHECK(read.machine.cpu == "A <processor>");
  CHECK(read.results[1].ratios.at(0).bar == 1.2);
  CHECK(!read.interrupted);
  auto ended = two();
  ended.interrupted = true;
  ended.warnings = {"busy"};
  CHECK(from_json(to_json(ended)).interrupted);
  CHECK(from_json(to_json(ended)).warnings == ended.warnings);
}

TEST_CASE("from_json: a document from before there were bars and warnings") {
  const auto read =
      from_json(R"({"results":[{"name":"a","unit":"us","better":"less","failures":0,"ratios":{"b":2},"samples":[1]}],)"
                R"("environment":{"kernel":"k","cpu":"c","cores":1,"load":0,"versions":{},"date":"d"}})");
  CHECK(read.results.at(0).ratios.at(0).bar == 0);
  CHECK(read.warnings.empty());
}

TEST_CASE("to_text: without samples there are no figures, and few miss no bar for sure") {
  auto failed = sample_result("a", "", {});
  failed.failures = 10;
  failed.given_up = true;
  failed.first_failure = "no";
  const auto text = to_text(sample_report({failed}));
  CHECK(text.find("    0        -        -        -        -        -\n") != std::string::npos);
  CHECK(text.find("failed   a: 10 times, given up, first: no\n") != std::string::npos);
  const auto many = sample_report({sample_result("f", "", around(1, 20)), sample_result("h", "f", around(2, 20))});
  CHECK(to_text(many).find("(MISSED 1.2)") != std::string::npos);
  const auto few = sample_report({sample_result("f", "", around(1, 19)), sample_result("h", "f", around(2, 20))});
  CHECK(to_text(few).find("(over 1.2, few samples)") != std::string::npos);
  CHECK(to_html(few).find("over 1.2, few samples") != std::string::npos);
}

TEST_CASE("from_json: what is no report is an error") {
  for (const char* text : {"", "{}", "[]", R"({"results":[{}],"environment":{}})", R"({"results":1})"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(from_json(text), error);
  }
}

TEST_CASE("to_csv: a row for each result") {
  CHECK(to_csv(two()) ==
        "name,unit,better,n,failures,min,p50,p90,p99,max,base,ratio\n"
        "a/floor,us,less,3,0,1.000,2.000,3.000,3.000,3.000,,\n"
        "a/host,us,less,3,0,4.000,4.000,5.000,5.000,5.000,a/floor,2.0002\n");
}

TEST_CASE("to_text: the bar that is missed, failures, changes and warnings are told") {
  auto report = two();
  report.results[0].failures = 1;
  report.results[0].first_failure = "it broke";
  const auto text = to_text(report, compare(report, report));
  CHECK(text.find("2.000 of a/floor (over 1.2, few samples)") != std::string::npos);
  CHECK(text.find("failed   a/floor: 1 times, first: it broke\n") != std::string::npos);
  CHECK(text.find("unknown  a/host: ratio to a/floor") != std::string::npos);
}
