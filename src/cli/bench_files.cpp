#include "cli/bench_files.hpp"

#include "cli/subcommand.hpp"
#include "os/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <system_error>

namespace berth::cli {

bench::report read_report(const std::string& path) {
  std::string text;
  try {
    text = whole_file(path);
  } catch (const std::system_error& failure) {
    throw usage_error(fmt::format("{}: {}", path, failure.code().message()));
  }
  try {
    return bench::from_json(text);
  } catch (const std::exception& failure) {
    throw usage_error(fmt::format("{}: no report of berth bench: {}", path, failure.what()));
  }
}

namespace {

std::optional<report_file> open_report(const std::optional<std::string>& path, std::vector<std::string>& taken) {
  if (!path) return std::nullopt;
  report_file opened(*path);
  if (std::find(taken.begin(), taken.end(), opened.target()) != taken.end())
    throw usage_error(fmt::format("{}: two reports cannot be one file", *path));
  taken.push_back(opened.target());
  return opened;
}

/// What goes wrong first is kept: one file that cannot be written does not cost the others.
void put(std::optional<report_file>& into, const std::string& text, std::exception_ptr& first_failure) {
  if (!into) return;
  try {
    into->put(text);
  } catch (const std::system_error&) {
    if (!first_failure) first_failure = std::current_exception();
  }
}

}  // namespace

report_files::report_files(const report_paths& paths) {
  std::vector<std::string> taken;
  for (const auto* each : {&paths.json, &paths.csv, &paths.html, &paths.svg})
    files_.push_back(open_report(*each, taken));
}

bool report_files::any() const noexcept {
  return std::any_of(files_.begin(), files_.end(), [](const auto& each) { return each.has_value(); });
}

void report_files::write(const bench::report& what, const bench::report& shown,
                         const std::vector<bench::change>& changes) {
  if (!any()) return;
  std::exception_ptr failure;
  put(files_[0], bench::to_json(what), failure);
  put(files_[1], bench::to_csv(what), failure);
  put(files_[2], bench::to_html(shown, changes), failure);
  put(files_[3], bench::to_svg(what), failure);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace berth::cli
