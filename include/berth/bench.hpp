#pragma once
/// Measures in turns: what is compared gives one sample each per round, so whatever slows the machine slows all of it.
///
/// `berth bench` stands on this, and a backend of your own can be measured beside it: examples/bench.cpp.

#include <berth/api.hpp>
#include <berth/task.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth::bench {

/// Which way a unit is good: times are less, rates are more.
enum class better { less, more };

/// What a subject is compared with.
struct base {
  std::string name;  ///< another subject of the same run; without it there is no ratio
  double bar = 0;    ///< the ratio that one holds oneself to; 0: only reported
};

/// One thing that is measured.
struct subject {
  std::string
      name;  ///< "exec/host". Names that differ in a number at their end ("exec/curve-64", "size-1m") are points of a curve.
  std::vector<base> bases = {};
  std::string unit = "us";
  better direction = better::less;
  /// How many samples are wanted, and how many rounds are thrown away before, unless the options say so.
  int runs = 100;
  int warmup = 5;
  /// The most that p99 may be, for what has no base; 0: only reported.
  double limit = 0;
  /// Gives one sample in the unit. What it throws counts as a failure, and the sample is missing. It may block.
  std::function<task<double>()> sample = {};
  /// Before the first sample and after the last, outside of what is timed. Both may be empty. `finish` runs whenever `prepare`
  /// was begun, within 30 s.
  std::function<task<void>()> prepare = {};
  std::function<task<void>()> finish = {};
};

/// How far a run has come.
struct progress {
  std::string_view name;  ///< of the subject whose sample is next
  std::size_t done = 0;   ///< samples, warm-ups too
  std::size_t total = 0;
};

/// How a run is made.
struct options {
  std::optional<int> runs = {};    ///< instead of those of the subjects; at least 1
  std::optional<int> warmup = {};  ///< the same, at least 0
  /// Called before each sample, outside of what is timed.
  std::function<void(const progress&)> on_progress = {};
};

/// What the samples of one subject say. Percentiles are samples, by nearest rank; all 0 without samples.
struct summary {
  std::size_t n = 0;
  double min = 0, p50 = 0, p90 = 0, p99 = 0, max = 0;
};

BERTH_API summary summarize(std::vector<double> samples);

/// Ours to a base: medians, turned so that below 1 is always better.
struct ratio {
  std::string base;
  double value = 0;
  double bar = 0;
};

/// What one bench came to.
struct result {
  std::string name;
  std::string unit;
  better direction = better::less;
  /// Samples that failed, and everything that the subjects measured together with this one left behind: descriptors and child
  /// processes.
  std::size_t failures = 0;
  std::string first_failure = {};
  bool given_up = false;  ///< nothing more was tried: its preparation failed, or all of its first ten samples
  summary numbers = {};
  std::vector<ratio> ratios = {};
  double limit = 0;  ///< see `subject::limit`
  std::vector<double> samples = {};
};

/// Where it was measured.
struct environment {
  std::string kernel;
  std::string cpu;
  int cores = 0;
  double load = 0;  ///< of the last minute, when the run began
  std::vector<std::pair<std::string, std::string>> versions = {};
  std::string date;  ///< UTC, "2026-01-31T12:00:00Z"
};

/// What a run came to.
struct report {
  std::vector<result> results = {};
  environment machine = {};
  std::vector<std::string> warnings = {};  ///< load, outliers, leftovers: what makes the figures doubtful
  bool interrupted = false;

  /// Whether nothing failed.
  BERTH_API bool ok() const noexcept;
};

/// Those that are named, and the bases of those; all where no name is given. A name is that of one bench; else of a group, "exec" of
/// all "exec/..."; else the beginning of some, as "exec/cur". Throws errc::invalid_argument for a name that fits none, or a base that
/// is missing.
BERTH_API std::vector<subject> choose(const std::vector<subject>& all, const std::vector<std::string>& names);

/// Measures. Subjects that are bases of one another, and points of one curve, take turns; the others follow one another.
///
/// A subject whose first ten samples all fail is given up.
/// Errors: invalid_argument for a subject without a name or a sample, two of one name, or a base of another unit or direction.
/// Cancel: ends the sample under way and drops it, runs what has to be finished, and gives the report of what came.
BERTH_API task<report> run(std::vector<subject> subjects);
BERTH_API task<report> run(std::vector<subject> subjects, options how);

/// How a result stands to one of an earlier run.
struct change {
  enum class kind {
    same,     ///< by less than a tenth
    better,   ///< by more than noise
    worse,    ///< by more than noise
    unclear,  ///< by a tenth or more, which may be noise
    unknown,  ///< too few samples, or not measured both times
  };

  std::string name;
  std::string of;                     ///< what is compared: "ratio to exec/floor", or "p50"
  std::optional<double> before = {};  ///< nothing where it was not measured, or in another unit
  std::optional<double> now = {};
  kind verdict = kind::unknown;
};

/// Compares the ratio to the first base that both runs have, else the medians. What differs by more than noise: by at least a tenth,
/// and the intervals that hold the two with 95 % confidence do not meet. docs/benchmarks.md has the formula.
BERTH_API std::vector<change> compare(const report& before, const report& now);

/// Where the machines or the builds of two runs are not the same, a line for each: processor, kernel, build.
BERTH_API std::vector<std::string> differences(const environment& before, const environment& now);

/// Forms of a report: a table for people; one JSON document with all samples; a line for each result; a page that needs no other
/// file; the ratios as one SVG picture. docs/benchmarks.md describes them.
BERTH_API std::string to_text(const report& what, const std::vector<change>& changes = {});
BERTH_API std::string to_json(const report& what);
BERTH_API std::string to_csv(const report& what);
BERTH_API std::string to_html(const report& what, const std::vector<change>& changes = {});
BERTH_API std::string to_svg(const report& what);

/// What `to_json` wrote. Errors: protocol.
BERTH_API report from_json(std::string_view text);

/// Time since it was made.
class BERTH_API stopwatch {
 public:
  double micros() const { return std::chrono::duration<double, std::micro>(clock::now() - began_).count(); }
  double millis() const { return micros() / 1000; }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point began_ = clock::now();
};

}  // namespace berth::bench
