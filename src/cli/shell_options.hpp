#pragma once
/// The arguments of `berth shell`.

#include "cli/env_file.hpp"
#include "cli/subcommand.hpp"

#include <berth/command.hpp>
#include <berth/docker_context.hpp>
#include <berth/isolation.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

extern const std::string_view shell_help;

struct shell_options {
  words command_words = {};  ///< empty: the login shell
  std::string cwd = {};
  env_changes env = {};
  /// Which of our variables the shell inherits; all of them where nothing is said.
  std::vector<std::string> inherit_env = {"*"};
  std::optional<isolation_settings> isolation = {};
  /// Where it runs, if not on this host.
  std::optional<docker_context_options> container = {};
  bool help = false;
};

/// Reads the words behind `berth shell`, and the files that they name. Throws usage_error.
shell_options parse_shell_options(const words& arguments);

/// What is to run in a terminal of this size.
command make_shell(const shell_options& options, terminal_size size);

}  // namespace berth::cli
