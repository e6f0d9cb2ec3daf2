#pragma once
/// The arguments of `berth exec`.

#include "cli/env_file.hpp"
#include "cli/subcommand.hpp"

#include <berth/command.hpp>
#include <berth/docker_context.hpp>
#include <berth/isolation.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

extern const std::string_view exec_help;

struct exec_options {
  words command_words;
  std::string cwd = {};
  env_changes env = {};
  /// Which of our variables the command inherits; all of them where nothing is said.
  std::vector<std::string> inherit_env = {"*"};
  bool login_env = false;
  std::optional<std::chrono::milliseconds> timeout = {};
  std::optional<std::chrono::milliseconds> idle_timeout = {};
  std::optional<std::chrono::milliseconds> grace = {};
  resource_limits limits = {};
  std::optional<isolation_settings> isolation = {};
  /// Where it runs, if not on this host.
  std::optional<docker_context_options> container = {};
  bool merge_stderr = false;
  bool json = false;
  bool help = false;
};

/// Reads the words behind `berth exec`, and the files that they name. Throws usage_error.
exec_options parse_exec_options(const words& arguments);

/// Is --cwd where the place is made, not only the command? The login shell is asked there, and it may be written.
bool is_cwd_of_place(const exec_options& options);

/// One word is shell text, several are a program and its arguments.
command make_command(const exec_options& options);

}  // namespace berth::cli
