#pragma once
/// What of the caller's environment says where Docker is: asked once, so that what follows are plain functions.

#include <functional>
#include <optional>
#include <string>

namespace berth {

/// Blocks.
struct docker_surroundings {
  /// A variable; nothing where it is not set or empty.
  std::function<std::optional<std::string>(const char* name)> variable;
  /// The text of a file; nothing where it is missing. Errors: those of reading it.
  std::function<std::optional<std::string>(const std::string& path)> file;
  /// Is there a socket?
  std::function<bool(const std::string& path)> has_socket;
  std::string home;
  unsigned user = 0;

  /// DOCKER_CONFIG, or ~/.docker.
  std::string config_directory() const;
};

/// Of this process, as it is now.
docker_surroundings real_docker_surroundings();

}  // namespace berth
