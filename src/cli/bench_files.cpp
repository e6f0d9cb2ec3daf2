#include "cli/bench_files.hpp"

#include "cli/subcommand.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

namespace berth::cli {

bench::report read_report(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (!file.is_open() || file.bad()) throw usage_error(fmt::format("{}: {}", path, std::strerror(errno)));
  try {
    return bench::from_json(text);
  } catch (const std::exception& failure) {
    throw usage_error(fmt::format("{}: no report of berth bench: {}", path, failure.what()));
  }
}

report_files::report_files(const report_paths& paths)
    : json_(open(paths.json)), csv_(open(paths.csv)), html_(open(paths.html)), svg_(open(paths.svg)) {}

report_files::file report_files::open(const std::optional<std::string>& path) {
  file opened(nullptr, std::fclose);
  if (!path) return opened;
  opened.reset(std::fopen(path->c_str(), "we"));
  if (!opened) throw usage_error(fmt::format("{}: {}", *path, std::strerror(errno)));
  return opened;
}

void report_files::put(const file& into, const std::string& text) {
  if (!into) return;
  const bool whole = std::fwrite(text.data(), 1, text.size(), into.get()) == text.size();
  if (!whole || std::fflush(into.get()) != 0)
    throw std::system_error(errno, std::generic_category(), "writing a report");
}

void report_files::write(const bench::report& what, const std::vector<bench::change>& changes) {
  put(json_, bench::to_json(what));
  put(csv_, bench::to_csv(what));
  put(html_, bench::to_html(what, changes));
  put(svg_, bench::to_svg(what));
}

}  // namespace berth::cli
