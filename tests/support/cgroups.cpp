#include "support/cgroups.hpp"

#include "os/cgroup_place.hpp"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <system_error>

namespace berth::test {

namespace fs = std::filesystem;

const std::string& cgroup_ground() {
  static const std::string path = find_cgroup_place().path;
  return path;
}

std::vector<std::string> cgroups_with(const std::string& prefix) {
  std::vector<std::string> found;
  if (cgroup_ground().empty()) return found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cgroup_ground(), ignored)) {
    if (entry.path().filename().string().starts_with(prefix)) found.push_back(entry.path().string());
  }
  return found;
}

bool has_whole_limits(const char* sentence) {
  static const cgroup_place place = find_cgroup_place();
  if (place.memory && place.processes) return true;
  std::printf("SKIPPED: %s: %s\n", sentence, place.why_not.c_str());
  return false;
}

}  // namespace berth::test
