#pragma once
/// Measures benches in turns and reports their distributions and ratios.
///
/// In every round each bench gives one sample, so what slows the machine slows all of them. The first rounds are thrown away.
/// A ratio compares medians and is turned so that below 1 is always better than the base.

#include <functional>
#include <string>
#include <vector>

namespace berth::bench {

enum class better { less, more };

/// One thing that is measured.
struct bench {
  std::string name;       ///< "exec/host"
  std::string base = {};  ///< the bench that its ratio is to; empty for a floor
  std::string unit = "us";
  better direction = better::less;
  double bar = 0;  ///< the ratio that we hold ourselves to; 0 where it is only reported
  /// Gives one sample in the unit. What it throws counts as a failure, and the sample is missing.
  std::function<double()> sample = {};
};

struct settings {
  int runs = 100;
  int warmup = 5;
};

/// What the samples of one bench say.
struct summary {
  std::size_t n = 0;
  std::size_t failures = 0;
  double min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
  std::string first_failure = {};
};

/// Nearest-rank percentiles; all 0 without samples.
summary summarize(std::vector<double> samples);

/// Ours to the base, below 1 is better; 0 where it cannot be said.
double ratio(const bench& ours, const summary& of_ours, const summary& of_base);

/// The `main` of a benchmark: `[--runs N] [--warmup N] [--json FILE] [--list] [NAME...]`.
///
/// NAME is a bench, or else the beginning of some; their bases are measured too. Without `--runs` the given settings hold. The
/// table goes to standard output. Gives 0, 1 where a sample failed, 2 for a wrong argument. A missed bar is no failure: it is a
/// line to read, since machines differ.
int run(int argc, char** argv, std::vector<bench> benches, settings defaults = {});

}  // namespace berth::bench
