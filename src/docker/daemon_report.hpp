#pragma once
/// What a daemon says of itself.

#include "berth/task.hpp"

#include <asio/any_io_executor.hpp>

#include <string>
#include <vector>

namespace berth {

struct daemon_report {
  std::string url;
  std::string from;         ///< who named it: "DOCKER_HOST", "the usual place"
  std::string version;      ///< of the daemon
  std::string api_version;  ///< that is spoken with it
  std::string driver;       ///< of its storage
  std::string cgroups;      ///< "1" or "2"; empty: not told
  bool is_podman = false;
  bool is_rootless = false;
  /// Limits that it cannot set: "memory", "cpu", "pids".
  std::vector<std::string> missing_limits;
  /// Names of images that it has, the smallest first.
  std::vector<std::string> images;
};

/// Asks the daemon that `host` and `context` mean (see docker_context_options), or the first that answers.
/// Errors: those of connect_daemon, and of the engine; unsupported where this build has no containers.
task<daemon_report> examine_daemon(asio::any_io_executor executor, std::string host, std::string context);

}  // namespace berth
