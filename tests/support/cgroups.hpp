#pragma once
/// The cgroups that Berth makes, as tests look at them.

#include <string>
#include <vector>

namespace berth::test {

/// A directory of cgroup2 below which cgroups can be made, with or without controllers; empty where there is none.
const std::string& cgroup_ground();

/// Those below it that a resident made: whole paths. `prefix` is as cgroup_prefix() has it.
std::vector<std::string> cgroups_with(const std::string& prefix = "berth-");

/// True where a limit of a whole command can be had; else says that the case is skipped.
bool has_whole_limits(const char* sentence);

}  // namespace berth::test
