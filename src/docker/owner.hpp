#pragma once
/// Whose a container is: written on it as labels, so that what a killed program left can be told from what a living one uses.

#include "berth/docker_reap.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// A process, so that it is never taken for another: not for one that got its pid later, nor for one of another machine.
struct owner_identity {
  std::string host;        ///< this machine: its id and name
  std::string boot;        ///< this run of its kernel
  std::string namespace_;  ///< the pids are of this namespace
  std::int64_t pid = 0;
  std::uint64_t started = 0;  ///< clock ticks after the boot
  std::string key;            ///< random: no two are equal

  bool operator==(const owner_identity&) const = default;
};

/// This process, with a new key. Blocks. Errors: those of reading /proc.
owner_identity this_owner();

using docker_labels = std::vector<std::pair<std::string, std::string>>;

/// Every container of ours has this label, whatever its owner.
inline constexpr const char* owner_label = "berth.owner";

docker_labels labels_of(const owner_identity& owner);
/// Nothing where they are not ours, or not whole.
std::optional<owner_identity> read_owner(const docker_labels& labels);

/// What is asked of this machine. `started` of a pid: nothing where there is none.
struct owner_view {
  owner_identity self;
  std::optional<std::uint64_t> (*started)(std::int64_t pid);
};

/// Dead only where it is certain: the machine was started again, or the pid is gone or is another's.
owner_state state_of(const owner_identity& owner, const owner_view& here);

/// When a process of this pid namespace was started, in clock ticks after the boot.
std::optional<std::uint64_t> start_of_process(std::int64_t pid);

}  // namespace berth
