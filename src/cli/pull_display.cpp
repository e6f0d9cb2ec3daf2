#include "cli/pull_display.hpp"

#include "cli/raw_terminal.hpp"
#include "cli/subcommand.hpp"
#include "cli/transfer_report.hpp"
#include "core/text.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace berth::cli {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view clear_line = "\r\x1b[K";
constexpr auto repaint_pause = 100ms;
constexpr auto line_pause = 1000ms;
constexpr std::size_t widest_bar = 30;
constexpr std::size_t narrowest_bar = 8;

bool is_finished(std::string_view status) { return status == "Pull complete" || status == "Already exists"; }

/// A layer has an id of hexadecimal digits; other lines are headed by the tag.
bool is_layer(std::string_view id) {
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return id.size() == 12 && std::all_of(id.begin(), id.end(), is_hex);
}

/// Names differ at their end.
std::string shortened(std::string name, std::size_t most) {
  constexpr std::string_view dots = "...";
  if (name.size() <= most) return name;
  if (most <= dots.size()) return {};
  return std::string(dots) + name.substr(utf8_ceil(name, name.size() - (most - dots.size())));
}

}  // namespace

void pull_summary::add(const pull_progress& now) {
  image_ = now.image;
  done_ = now.all_done;
  size_ = now.all_size;
  if (!is_layer(now.layer)) return;
  layers_.insert(now.layer);
  if (is_finished(now.status)) finished_.insert(now.layer);
  unpacks_ = now.status == "Extracting";
}

std::string pull_summary::text() const {
  std::string text = size_ == 0 ? std::string("waiting") : fmt::format("{} of {}", size_text(done_), size_text(size_));
  if (!layers_.empty()) text += fmt::format(", {} of {} layers", finished_.size(), layers_.size());
  if (unpacks_ && done_ == size_) text += ", unpacking";
  return text;
}

std::string pull_summary::whole() const {
  if (size_ == 0) return {};
  return fmt::format(": {}, {} {}", size_text(size_), layers_.size(), layers_.size() == 1 ? "layer" : "layers");
}

std::string pull_summary::bar(std::size_t columns) const {
  const std::string rest = fmt::format(" {}", text());
  std::string name = to_text(image_);
  constexpr std::size_t frame = 3;  // brackets and a blank
  const std::size_t free = columns > rest.size() + frame + 1 ? columns - rest.size() - frame - 1 : 0;
  if (free < narrowest_bar) return (name + rest).substr(0, utf8_floor(name + rest, columns > 0 ? columns - 1 : 0));
  const std::size_t width = std::clamp(free / 2, narrowest_bar, widest_bar);
  name = shortened(std::move(name), free - width);
  const double share = size_ == 0 ? 0 : static_cast<double>(done_) / static_cast<double>(size_);
  const auto filled = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(width));
  return fmt::format("{} [{}{}]{}", name, std::string(filled, '#'), std::string(width - filled, '-'), rest);
}

pull_display::pull_display(std::string_view subcommand)
    : subcommand_(subcommand), on_terminal_(::isatty(STDERR_FILENO) == 1) {}

pull_display::~pull_display() { hide(); }

void pull_display::hide() {
  if (std::exchange(shown_, false)) print_text(clear_line, STDERR_FILENO);
}

void pull_display::tell(const pull_progress& now) {
  if (!told_) began_ = clock::now();
  summary_.add(now);
  if (!on_terminal_ && !std::exchange(told_, true)) {
    next_ = began_ + line_pause;
    return print_error(subcommand_, fmt::format("pulling {}", summary_.image()));
  }
  told_ = true;
  if (clock::now() < next_) return;
  next_ = clock::now() + (on_terminal_ ? repaint_pause : line_pause);
  if (!on_terminal_) return print_error(subcommand_, fmt::format("pulling {}: {}", summary_.image(), summary_.text()));
  // In the background a terminal may stop those who write (stty tostop).
  if (is_in_background(STDERR_FILENO)) return;
  shown_ = true;
  const std::size_t columns = size_of_terminal(STDERR_FILENO).columns();
  print_text(fmt::format("{}{}", clear_line, summary_.bar(columns)), STDERR_FILENO);
}

void pull_display::finish() {
  hide();
  if (!std::exchange(told_, false) || on_terminal_) return;
  const auto took = std::chrono::duration<double>(clock::now() - began_);
  print_error(subcommand_, fmt::format("pulled {}{} in {:.1f} s", summary_.image(), summary_.whole(), took.count()));
}

}  // namespace berth::cli
