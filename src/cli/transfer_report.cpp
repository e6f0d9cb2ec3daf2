#include "cli/transfer_report.hpp"

#include "cli/subcommand.hpp"
#include "core/shown_path.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view clear_line = "\r\x1b[K";
constexpr std::size_t most_named = 10, most_known = 100;

}  // namespace

progress_report::~progress_report() {
  if (shown_ && on_terminal_) print_text(clear_line, STDERR_FILENO);
}

void progress_report::tell(const transfer_progress& now) {
  const auto pause = on_terminal_ ? 100ms : 1000ms;
  if (clock::now() - last_ < pause) return;
  last_ = clock::now();
  shown_ = true;
  if (on_terminal_)
    print_text(fmt::format("{}{}", clear_line, progress_text(now)), STDERR_FILENO);
  else
    print_error("cp", progress_text(now));
}

void progress_report::finish(const transfer_progress& done) const {
  if (!on_terminal_) print_error("cp", progress_text(done));
}

std::string size_text(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 5> units = {"kB", "MB", "GB", "TB", "PB"};
  if (bytes < 1000) return fmt::format("{} bytes", bytes);
  auto value = static_cast<double>(bytes) / 1000;
  std::size_t unit = 0;
  for (; value >= 1000 && unit + 1 < units.size(); ++unit) value /= 1000;
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string progress_text(const transfer_progress& now) {
  return fmt::format("{} {}, {}", now.entries(), now.entries() == 1 ? "entry" : "entries", size_text(now.bytes()));
}

std::string skipped_text(const transfer_progress& done) {
  const auto& all = done.skipped();
  if (all.empty()) return {};
  std::string text = fmt::format("left out {}{}, which cannot be carried or would lead out of the tree: ", all.size(),
                                 all.size() >= most_known ? " or more" : "");
  for (std::size_t i = 0; i < std::min(all.size(), most_named); ++i) text += (i > 0 ? ", " : "") + shown_path(all[i]);
  if (all.size() > most_named) text += ", ...";
  return text;
}

}  // namespace berth::cli
