#include "bench/curve.hpp"

#include <berth/bench.hpp>
#include <berth/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace berth::bench {
namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

std::size_t index_of(const std::vector<subject>& all, std::string_view name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const subject& each) { return each.name == name; });
  return found == all.end() ? none : static_cast<std::size_t>(found - all.begin());
}

/// Marks a subject and, up the line, its bases.
void mark(const std::vector<subject>& all, std::vector<bool>& chosen, std::size_t index) {
  if (chosen[index]) return;
  chosen[index] = true;
  for (const auto& each : all[index].bases) {
    const auto at = index_of(all, each.name);
    if (at == none)
      throw error(errc::invalid_argument, fmt::format("{}: there is no base {}", all[index].name, each.name));
    mark(all, chosen, at);
  }
}

/// Whether there is any.
bool mark_beginning(const std::vector<subject>& all, std::vector<bool>& chosen, const std::string& beginning) {
  bool found = false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].name.starts_with(beginning)) continue;
    mark(all, chosen, i);
    found = true;
  }
  return found;
}

/// A bench of this name alone, else a group, else what begins so.
void mark_called(const std::vector<subject>& all, std::vector<bool>& chosen, const std::string& name) {
  const auto whole = index_of(all, name);
  if (whole != none) return mark(all, chosen, whole);
  if (!name.empty() && mark_beginning(all, chosen, name + '/')) return;
  if (name.empty() || !mark_beginning(all, chosen, name))
    throw error(errc::invalid_argument, fmt::format("no bench is called '{}'", name));
}

double factor_of(char unit) {
  switch (unit) {
    case 'k':
      return 1024.0;
    case 'm':
      return 1024.0 * 1024;
    case 'g':
      return 1024.0 * 1024 * 1024;
    default:
      return 0;
  }
}

}  // namespace

std::vector<subject> choose(const std::vector<subject>& all, const std::vector<std::string>& names) {
  std::vector<bool> chosen(all.size(), false);
  for (const auto& name : names) mark_called(all, chosen, name);
  for (std::size_t i = 0; names.empty() && i < all.size(); ++i) mark(all, chosen, i);
  std::vector<subject> left;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (chosen[i]) left.push_back(all[i]);
  }
  return left;
}

std::optional<curve_point> curve_point_of(std::string_view name) {
  const auto dash = name.rfind('-');
  if (dash == std::string_view::npos || dash + 1 == name.size() || dash == 0) return std::nullopt;
  auto digits = name.substr(dash + 1);
  curve_point point;
  point.curve = std::string(name.substr(0, dash));
  const double factor = factor_of(digits.back());
  point.is_size = factor > 0;
  if (point.is_size) digits.remove_suffix(1);
  unsigned long number = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (read.ec != std::errc() || read.ptr != digits.data() + digits.size()) return std::nullopt;
  point.x = static_cast<double>(number) * (point.is_size ? factor : 1);
  return point;
}

}  // namespace berth::bench
