#pragma once
/// The context on this host: commands are processes beside the caller, started by a small resident program.

#include <berth/api.hpp>
#include <berth/context.hpp>
#include <berth/isolation.hpp>
#include <berth/log.hpp>

#include <chrono>
#include <optional>
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
  /// Which variables of the environment that the caller had when the handle was spawned go to the commands of the handle, and to
  /// the resident. Exact names; a `*` at the end of one stands for any rest, as in "LC_*", and alone for all. An empty list: none, and
  /// nothing is made up in place of HOME or PATH (a program is then searched in the resident's default, see docs/resident.md).
  std::vector<std::string> inherit_env = {"*"};
  /// Asks the user's login shell once, when a handle is spawned, what it sets: PATH of nvm, rbenv or direnv. It runs as an interactive
  /// login shell in the handle's directory, without a terminal and with standard input at its end, and sees `inherit_env`, `env` and
  /// `unset_env`; HOME, USER, LOGNAME and SHELL are set for it where they are missing. What it exports becomes the environment of
  /// the handle, under `env` and `unset_env`; variables of the terminal (TERM, COLUMNS, ...), PWD, OLDPWD, SHLVL and _ stay as they were. The
  /// shell is that of the user database for our effective user id, else $SHELL, else /bin/sh; bash, zsh, fish, dash and ksh are
  /// understood. What it leaves running (an ssh-agent, for instance) is ended.
  ///
  /// A shell that fails, is not there, says nothing usable or is not ready in time fails no spawn: commands get the environment
  /// without it, and `log` a warning.
  bool login_environment = false;
  /// How long that may take. Must be > 0.
  std::chrono::milliseconds login_timeout{10000};
  /// Set for every command, on top of that.
  std::vector<std::pair<std::string, std::string>> env = {};
  /// Removed for every command.
  std::vector<std::string> unset_env = {};
  /// Kernel limits around every command; docs/isolation.md. Where they cannot be had, commands end with start_failed and 127, and nothing
  /// runs. Default: none.
  std::optional<isolation_settings> isolation = {};
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
