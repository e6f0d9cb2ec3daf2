#pragma once
/// A container that somebody else has made and keeps.

#include "docker/container.hpp"

#include <string>
#include <vector>

namespace berth {

struct given_container {
  container box;
  std::string shown;         ///< the name it was asked for by
  std::string cwd;           ///< where its own processes start
  std::string architecture;  ///< of its image, as Go has it; empty: not known
  bool read_only_root = false;
  /// Directories with a file system of their own that the daemon can write to.
  std::vector<std::string> volumes;
  /// What lies in these the daemon cannot reach.
  std::vector<std::string> memory_directories;
};

/// By name or id. Errors: not_found; conflict where it does not run, or is paused.
task<given_container> find_given_container(std::shared_ptr<docker_engine> engine, std::string name);

/// Which ports the daemon's host offers; TCP only.
task<std::vector<docker_port>> published_ports_of(container box);

}  // namespace berth
