#pragma once
/// Unix sockets whose users get more than this user's files: other programs that act for them, outside.

#include <string>
#include <vector>

namespace berth {

/// Those that are there, as real paths.
struct dangerous_sockets {
  std::vector<std::string> sockets = {};
  /// With nothing in them that a command should use.
  std::vector<std::string> directories = {};
  /// Where they were looked for.
  std::vector<std::string> looked_at = {};
};
/// Blocks. Errors: as real_path_if_there.
dangerous_sockets find_dangerous_sockets();

/// Variables that name such sockets: commands do better without them.
const std::vector<std::string>& socket_variables();

}  // namespace berth
