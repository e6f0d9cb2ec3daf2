#pragma once
/// The files that `berth bench` reads and writes.

#include <berth/bench.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace berth::cli {

/// Throws usage_error for a file that cannot be read or is no report.
bench::report read_report(const std::string& path);

struct report_paths {
  std::optional<std::string> json, csv, html, svg;
};

/// Opened before anything is measured, so that no run is lost to a path that cannot be.
class report_files {
 public:
  report_files() = default;
  /// Throws usage_error for one that cannot be written.
  explicit report_files(const report_paths& paths);

  /// Throws std::system_error.
  void write(const bench::report& what, const std::vector<bench::change>& changes);

 private:
  using file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

  static file open(const std::optional<std::string>& path);
  static void put(const file& into, const std::string& text);

  file json_{nullptr, std::fclose};
  file csv_{nullptr, std::fclose};
  file html_{nullptr, std::fclose};
  file svg_{nullptr, std::fclose};
};

}  // namespace berth::cli
