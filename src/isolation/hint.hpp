#pragma once
/// Was a command denied something by its isolation? A guess from what it printed.

#include "isolation/plan.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

enum class denied_kind {
  write,    ///< outside of the writable roots, or a protected path
  tmp,      ///< a path below /tmp that only this host has, while /tmp is private
  network,  ///< the network is off
};

struct denial {
  denied_kind kind = denied_kind::write;
  std::string path;  ///< empty for the network, and where none was found in the output
  std::string line;  ///< for the output: one line without its end
};

/// How the host looks; questions that block.
struct host_view {
  /// Could this user write there, or make it, outside of the sandbox? A relative path starts at the command's directory.
  std::function<bool(const std::string& path)> is_writable;
  /// Is it there, outside of the sandbox?
  std::function<bool(const std::string& path)> exists;
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
