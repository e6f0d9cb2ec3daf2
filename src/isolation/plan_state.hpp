#pragma once
/// Does a plan still say what is there?

#include "isolation/plan.hpp"

#include <cstdint>
#include <vector>

namespace berth {

/// What is known of one path: which file, and for some when it was written. All zero: it is not there.
struct path_state {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::int64_t made = 0;  ///< nanoseconds; numbers are used again
  std::int64_t written = 0;
  int failure = 0;  ///< errno, where it cannot be seen whether it is there

  bool operator==(const path_state&) const = default;
};

/// Of all that the plan was made of: one system call for each path. While it stays the same, so does the plan. Blocks.
std::vector<path_state> look_at(const isolation_plan& plan);

}  // namespace berth
