#include "bench/rounds.hpp"

#include "bench/curve.hpp"

#include <algorithm>
#include <numeric>

namespace berth::bench {
namespace {

bool are_compared(const subject& one, const subject& other) {
  const auto names = [](const subject& each, const subject& to) {
    return std::any_of(each.bases.begin(), each.bases.end(), [&](const base& its) { return its.name == to.name; });
  };
  if (names(one, other) || names(other, one)) return true;
  const auto first = curve_point_of(one.name);
  const auto second = curve_point_of(other.name);
  return first && second && first->curve == second->curve;
}

}  // namespace

std::vector<std::vector<std::size_t>> groups_of(const std::vector<subject>& subjects) {
  std::vector<std::size_t> group(subjects.size());
  std::iota(group.begin(), group.end(), std::size_t{0});
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (!are_compared(subjects[i], subjects[k])) continue;
      const auto [kept, joins] = std::minmax(group[i], group[k]);
      std::replace(group.begin(), group.end(), std::size_t{joins}, std::size_t{kept});
    }
  }
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t first = 0; first < subjects.size(); ++first) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < subjects.size(); ++i) {
      if (group[i] == first) members.push_back(i);
    }
    if (!members.empty()) groups.push_back(std::move(members));
  }
  return groups;
}

}  // namespace berth::bench
