#include "bench/statistics.hpp"
#include "core/json.hpp"

#include <berth/error.hpp>

#include <cmath>

namespace berth::bench {
namespace {

/// Clocks do not tell more.
double rounded(double value) { return std::round(value * 1000) / 1000; }

json number(const result& what, double value) {
  if (what.numbers.n == 0) return nullptr;
  return rounded(value);
}

json object_of(const result& what) {
  json_object ratios;
  json_object bars;
  for (const auto& each : what.ratios) ratios.append(each.base, std::round(each.value * 10000) / 10000);
  for (const auto& each : what.ratios) {
    if (each.bar > 0) bars.append(each.base, each.bar);
  }
  json_array samples;
  for (const double each : what.samples) samples.emplace_back(rounded(each));
  json_object members;
  members.append("name", what.name);
  members.append("unit", what.unit);
  members.append("better", what.direction == better::less ? "less" : "more");
  members.append("n", what.numbers.n);
  members.append("failures", what.failures);
  members.append("min", number(what, what.numbers.min));
  members.append("p50", number(what, what.numbers.p50));
  members.append("p90", number(what, what.numbers.p90));
  members.append("p99", number(what, what.numbers.p99));
  members.append("max", number(what, what.numbers.max));
  members.append("ratios", std::move(ratios));
  members.append("bars", std::move(bars));
  members.append("samples", std::move(samples));
  return members;
}

json object_of(const environment& machine) {
  json_object versions;
  for (const auto& [what, version] : machine.versions) versions.append(what, version);
  json_object members;
  members.append("kernel", machine.kernel);
  members.append("cpu", machine.cpu);
  members.append("cores", machine.cores);
  members.append("load", rounded(machine.load));
  members.append("versions", std::move(versions));
  members.append("date", machine.date);
  return members;
}

result result_of(const json& members) {
  result read;
  read.name = members.at("name").as_string();
  read.unit = members.at("unit").as_string();
  const auto& direction = members.at("better").as_string();
  if (direction != "less" && direction != "more") throw error(errc::protocol, "better is neither less nor more");
  read.direction = direction == "less" ? better::less : better::more;
  const auto failures = members.at("failures").as_int();
  if (failures < 0) throw error(errc::protocol, "failures are less than none");
  read.failures = static_cast<std::size_t>(failures);
  for (const auto& [base, value] : members.at("ratios").as_object()) {
    const json& bar = members["bars"][base];
    read.ratios.push_back({.base = base, .value = value.as_double(), .bar = bar.is_null() ? 0 : bar.as_double()});
  }
  for (const auto& each : members.at("samples").as_array()) read.samples.push_back(each.as_double());
  read.numbers = summarize(read.samples);
  return read;
}

environment environment_of(const json& members) {
  environment read;
  read.kernel = members.at("kernel").as_string();
  read.cpu = members.at("cpu").as_string();
  read.cores = static_cast<int>(members.at("cores").as_int());
  read.load = members.at("load").as_double();
  for (const auto& [what, version] : members.at("versions").as_object()) {
    read.versions.emplace_back(what, version.as_string());
  }
  read.date = members.at("date").as_string();
  return read;
}

}  // namespace

std::string to_json(const report& what) {
  json_array results;
  for (const auto& each : what.results) results.push_back(object_of(each));
  json_object members;
  members.append("results", std::move(results));
  members.append("environment", object_of(what.machine));
  json_array warnings;
  for (const auto& each : what.warnings) warnings.emplace_back(each);
  members.append("warnings", std::move(warnings));
  members.append("interrupted", what.interrupted);
  return json(std::move(members)).dump() + '\n';
}

report from_json(std::string_view text) {
  const json document = json::parse(text);
  report read;
  for (const auto& each : document.at("results").as_array()) read.results.push_back(result_of(each));
  read.machine = environment_of(document.at("environment"));
  // Documents of earlier versions have neither these nor `bars`.
  if (const json& warnings = document["warnings"]; !warnings.is_null()) {
    for (const auto& each : warnings.as_array()) read.warnings.push_back(each.as_string());
  }
  if (const json& interrupted = document["interrupted"]; !interrupted.is_null()) {
    read.interrupted = interrupted.as_bool();
  }
  return read;
}

}  // namespace berth::bench
