#pragma once
/// The files that `berth bench` reads and writes.

#include "cli/report_file.hpp"

#include <berth/bench.hpp>

#include <optional>
#include <string>
#include <vector>

namespace berth::cli {

/// Throws usage_error for a file that cannot be read or is no report.
bench::report read_report(const std::string& path);

struct report_paths {
  std::optional<std::string> json, csv, html, svg;
};

/// Opened before anything is measured, so that no run is lost to a path that cannot be. Earlier files stay until `write`.
class report_files {
 public:
  report_files() = default;
  /// Throws usage_error for one that cannot be written, or two that are one.
  explicit report_files(const report_paths& paths);

  /// Whether any was asked for.
  bool any() const noexcept;

  /// `shown` is the same for people, with warnings that are of the comparison. Throws std::system_error, after the other files.
  void write(const bench::report& what, const bench::report& shown, const std::vector<bench::change>& changes);

 private:
  std::vector<std::optional<report_file>> files_;  // JSON, CSV, HTML, SVG
};

}  // namespace berth::cli
