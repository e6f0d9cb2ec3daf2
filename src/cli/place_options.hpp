#pragma once
/// The options that every subcommand has which starts a command: in which directory, with which environment.

#include "cli/env_file.hpp"
#include "cli/subcommand.hpp"

#include <berth/command.hpp>

#include <string>

namespace CLI {
class App;
}

namespace berth::cli {

/// --cwd, --env, --unset-env, --env-file.
void declare_place_options(CLI::App& app);

/// The directory of --cwd, which must be there; empty without. Throws usage_error: a directory that cannot be entered is a mistake
/// of the caller's, not a command that failed.
std::string directory_of(const CLI::App& app);

/// Removals come first, then files, then --env. Throws usage_error.
env_changes environment_of(const CLI::App& app);

/// One word is shell text, several are a program and its arguments.
command command_of(const words& given);

void set_place(command& what, const std::string& cwd, const env_changes& env);

}  // namespace berth::cli
