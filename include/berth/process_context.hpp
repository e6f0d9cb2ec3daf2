#pragma once
/// The context on this host: commands are processes beside the caller, started by a small resident program.

#include <berth/api.hpp>
#include <berth/context.hpp>
#include <berth/log.hpp>

#include <string>
#include <utility>
#include <vector>

namespace asio {
class io_context;
}

namespace berth {

/// Settings of a context on this host.
struct process_context_options {
  /// Working directory of handles that do not name one; relative to the caller's. Made if missing. Default: the caller's.
  std::string cwd = {};
  /// Set for every command, on top of the environment that the caller had when the handle was spawned.
  std::vector<std::pair<std::string, std::string>> env = {};
  /// Removed for every command.
  std::vector<std::string> unset_env = {};
  /// Where the library writes what it notices; silent by default.
  log_function log = {};
};

/// Commands run as this user, with the caller's environment. Nothing is started before the first spawn.
///
/// It never installs a signal handler, never waits for children that are not its own, and changes neither directory nor
/// environment of the caller. What the commands of a handle started ends when the handle is destroyed, when the context goes, or
/// when the calling process dies, even by SIGKILL. A program that forks into the background makes its contexts after that.
BERTH_API context make_process_context(asio::io_context& io, process_context_options options = {});

}  // namespace berth
