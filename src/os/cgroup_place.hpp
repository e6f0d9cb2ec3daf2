#pragma once
/// Where cgroups for commands can be made on this host, and what a resident that is no more has left there.

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace berth {

/// A directory of cgroup2 below which a cgroup for each command can be made. With neither limit there is no such place.
struct cgroup_place {
  std::string path = {};
  bool memory = false;                      ///< memory.max works there
  bool processes = false;                   ///< pids.max works there
  std::vector<std::string> to_enable = {};  ///< controllers that must be switched on first
  std::string why_not = {};                 ///< where a limit is missing: what stands in the way
  std::string cure = {};                    ///< and what would mend it

  bool any() const noexcept { return memory || processes; }
};

/// Finds the place of this process: its own cgroup where that is the root of all, else its parent, if that may be written to. Changes
/// nothing. Blocks for some reads of /proc and /sys. `proc` stands for /proc/self.
cgroup_place find_cgroup_place(const std::string& proc = "/proc/self");

/// The same, ready for use: controllers are switched on, and empty cgroups removed whose resident is no more.
cgroup_place prepare_cgroup_place();

/// What the names of a resident's cgroups begin with; the number of the command follows.
std::string cgroup_prefix(std::uint32_t pid, std::uint32_t nonce);

/// Kills what is in the cgroups below `parent` whose names begin with `prefix`, and removes them. Blocks, at most for the time
/// given; true if none is left.
bool sweep_cgroups(const std::string& parent, const std::string& prefix, std::chrono::milliseconds limit);

}  // namespace berth
