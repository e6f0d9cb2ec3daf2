#include "report.hpp"

#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <system_error>

namespace berth::bench {
namespace {

/// As many digits as are worth reading: 3 for small numbers, none behind the point for large ones.
std::string digits(double value) {
  if (value == 0) return "0";
  if (value < 10) return fmt::format("{:.2f}", value);
  if (value < 1000) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", value);
}

std::string verdict(const measured& result) {
  if (result.what.bar <= 0 || result.ratio <= 0) return "";
  return fmt::format("{} {:.2f}", result.ratio <= result.what.bar ? "within" : "MISSED", result.what.bar);
}

/// JSON strings here are our own names, compiler versions and messages of exceptions.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char each : text) {
    if (each == '"' || each == '\\') out += '\\';
    out += static_cast<unsigned char>(each) < 0x20 ? ' ' : each;
  }
  return out + '"';
}

std::string environment(settings counts) {
  utsname system{};
  ::uname(&system);
#ifdef __OPTIMIZE__
  constexpr bool optimized = true;
#else
  constexpr bool optimized = false;
#endif
  double load[1] = {0};
  ::getloadavg(load, 1);
  return fmt::format(
      R"({{"environment":{{"system":{},"kernel":{},"machine":{},"cpus":{},"compiler":{},"optimized":{},"load":{:.2f},)"
      R"("runs":{},"warmup":{}}}}})",
      quoted(system.sysname), quoted(system.release), quoted(system.machine), ::get_nprocs(), quoted(__VERSION__),
      optimized, load[0], counts.runs, counts.warmup);
}

std::string line_of(const measured& result) {
  const auto& numbers = result.numbers;
  std::string line = fmt::format(
      R"({{"name":{},"unit":{},"n":{},"failures":{},"min":{:.3f},"p50":{:.3f},"p90":{:.3f},"p99":{:.3f},"max":{:.3f})",
      quoted(result.what.name), quoted(result.what.unit), numbers.n, numbers.failures, numbers.min, numbers.p50,
      numbers.p90, numbers.p99, numbers.max);
  if (!result.what.base.empty()) {
    line += fmt::format(R"(,"base":{},"ratio":{:.4f})", quoted(result.what.base), result.ratio);
  }
  if (result.what.bar > 0) line += fmt::format(R"(,"bar":{})", result.what.bar);
  if (result.failures > 0) line += fmt::format(R"(,"first_failure":{})", quoted(result.first_failure));
  line += R"(,"samples":[)";
  for (std::size_t i = 0; i < result.samples.size(); ++i) {
    line += fmt::format("{}{:.3f}", i == 0 ? "" : ",", result.samples[i]);
  }
  return line + "]}";
}

}  // namespace

void print_table(const std::vector<measured>& results, settings counts) {
  constexpr auto row = "{:<18} {:>6} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7}  {}\n";
  fmt::print(row, "bench", "unit", "n", "min", "p50", "p90", "p99", "max", "ratio", "bar");
  for (const auto& each : results) {
    const auto& numbers = each.numbers;
    fmt::print(row, each.what.name, each.what.unit, numbers.n, digits(numbers.min), digits(numbers.p50),
               digits(numbers.p90), digits(numbers.p99), digits(numbers.max),
               each.ratio > 0 ? fmt::format("{:.3f}", each.ratio) : "", verdict(each));
  }
  for (const auto& each : results) {
    if (each.failures > 0) fmt::print("{}: {} failed, first: {}\n", each.what.name, each.failures, each.first_failure);
  }
  fmt::print("{} rounds after {} dropped; the ratio is that of the medians to the base, below 1 is better\n",
             counts.runs, counts.warmup);
  std::fflush(stdout);
}

json_file::json_file(const std::string& path) : file_(nullptr, std::fclose) {
  if (path.empty()) return;
  file_.reset(std::fopen(path.c_str(), "we"));
  if (!file_) throw std::system_error(errno, std::generic_category(), path);
}

void json_file::write(const std::vector<measured>& results, settings counts) {
  if (!file_) return;
  fmt::print(file_.get(), "{}\n", environment(counts));
  for (const auto& each : results) fmt::print(file_.get(), "{}\n", line_of(each));
  if (std::fflush(file_.get()) != 0) throw std::system_error(errno, std::generic_category(), "writing JSON");
}

}  // namespace berth::bench
