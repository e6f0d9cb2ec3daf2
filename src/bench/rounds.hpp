#pragma once
/// Who takes turns with whom.

#include <berth/bench.hpp>

namespace berth::bench {

/// Subjects that are bases of one another, however far, and points of one curve are in one group. All in the order of the subjects.
std::vector<std::vector<std::size_t>> groups_of(const std::vector<subject>& subjects);

}  // namespace berth::bench
