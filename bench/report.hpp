#pragma once
/// The two forms of a benchmark's results: a table for people, JSON lines for programs.

#include "harness.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace berth::bench {

struct measured {
  bench what;
  std::vector<double> samples = {};
  std::size_t failures = 0;
  std::string first_failure = {};
  summary numbers = {};
  double ratio = 0;  ///< 0 without a base
};

void print_table(const std::vector<measured>& results, settings counts);

/// A file of JSON lines: one about the machine, then one for each bench with its raw samples. Does nothing without a path.
class json_file {
 public:
  /// Throws std::system_error where the file cannot be opened, before anything was measured.
  explicit json_file(const std::string& path);
  void write(const std::vector<measured>& results, settings counts);

 private:
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_;
};

}  // namespace berth::bench
