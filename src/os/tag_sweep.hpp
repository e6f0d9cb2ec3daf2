#pragma once
/// Ending what a resident that is no more has left behind.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace berth {

struct swept_process {
  std::int64_t pid = 0;
  std::string name;
};

/// Sends SIGKILL to every process whose RLIMIT_LOCKS, soft or hard, has `nonce` in its upper half, until none is left or the
/// time has passed. Gives those that are still there. Blocks.
std::vector<swept_process> sweep_tagged(std::uint32_t nonce, std::chrono::milliseconds limit);

}  // namespace berth
