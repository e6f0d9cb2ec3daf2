#pragma once
/// Was a command denied something by its isolation? A guess from what it printed.

#include "berth/denial.hpp"
#include "isolation/plan.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

/// Does a line look as if it told of a denial?
enum class suspicion {
  none,
  weak,    ///< so ordinary failures are told too
  strong,  ///< a read-only file system
};
suspicion suspicion_of(std::string_view line);

/// How the host looks; questions that block.
struct host_view {
  /// Could this user write there, or make it, outside of the sandbox? A relative path starts at the command's directory.
  std::function<bool(const std::string& path)> is_writable;
  /// Is it there, outside of the sandbox?
  std::function<bool(const std::string& path)> exists;
  /// The same place without links on the way to it, as far as it is there. Without this function: the path itself.
  std::function<std::string(const std::string& path)> real = {};
  /// Is the directory too wide for a root? Without this function: only `/` is.
  std::function<bool(const std::string& directory)> is_wide = {};
};

/// What is known when a command has ended.
struct ended_command {
  std::string_view
      error_tail;  ///< the end of standard error, or of the merged output; only the last 64 KiB are looked at
  std::string_view cwd;
  int code = 0;
};

/// The first denial in the output, if there is one. Exit code 0 is no proof of none: a pipeline may end well.
std::optional<denial> find_denial(const isolation_settings& settings, const isolation_plan& plan,
                                  const ended_command& command, const host_view& host);

}  // namespace berth
