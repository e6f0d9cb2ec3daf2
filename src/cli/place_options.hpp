#pragma once
/// The options that every subcommand has which starts a command: in which directory, with which environment.

#include "cli/env_file.hpp"
#include "cli/subcommand.hpp"

#include <berth/command.hpp>

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace berth::cli {

/// --cwd, --env, --unset-env, --env-file, --inherit-env, --clean-env.
void declare_place_options(CLI::App& app);

/// Removals come first, then files, then --env. Throws usage_error.
env_changes environment_of(const CLI::App& app);

/// Those come after these.
void add_changes(env_changes& changes, env_changes more);

/// Which of our variables the place begins with, as process_context_options::inherit_env has it. Throws usage_error.
std::vector<std::string> inherited_names(const CLI::App& app);

/// One word is shell text, several are a program and its arguments.
command command_of(const words& given);

void set_place(command& what, const std::string& cwd, const env_changes& env);

}  // namespace berth::cli
