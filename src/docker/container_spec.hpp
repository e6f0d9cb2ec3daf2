#pragma once
/// The request that makes a container.

#include "berth/docker_context.hpp"
#include "core/json.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// Where commands start in a container of ours.
inline constexpr const char* default_docker_cwd = "/workspace";

/// What is put into a container besides what the user asked for.
struct container_fittings {
  /// The first process, in place of the image's entrypoint and command; empty: those.
  std::vector<std::string> entrypoint = {};
  /// A volume without a name at this path, for the resident; empty: none.
  std::string volume = {};
  /// A directory of ours, for the socket, bound at `socket_target`; empty: none.
  std::string socket_directory = {};
  std::string socket_target = {};
  /// Whose it is: see owner_labels.
  std::vector<std::pair<std::string, std::string>> labels = {};
  /// Standard input stays open, for the resident.
  bool stdin_open = false;
  /// It closes with the first who was attached to it.
  bool stdin_once = false;
  /// A process 1 of the daemon that reaps, where the first process is not ours.
  bool init = false;
  /// The daemon removes it once its first process has ended.
  bool auto_remove = true;
};

/// Looks for what cannot be. Errors: invalid_argument naming the option.
void check_docker_options(const docker_context_options& options);

/// The body of POST /containers/create; the options were checked. Per-spawn values have been put into the options before.
/// Source: Docker Engine API 1.41, "Create a container".
json container_spec(const docker_context_options& options, const container_fittings& fittings);

/// "1.5" as billionths of a core. Errors: invalid_argument.
std::int64_t read_cpu(std::string_view text);

}  // namespace berth
