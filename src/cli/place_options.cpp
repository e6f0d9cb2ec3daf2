#include "cli/place_options.hpp"

#include "cli/arguments.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <system_error>
#include <utility>

namespace berth::cli {

void declare_place_options(CLI::App& app) {
  for (const char* names : {"--cwd", "-e,--env", "--unset-env", "--env-file"}) add_value(app, names);
}

std::string directory_of(const CLI::App& app) {
  auto path = last_value_of(app, "--cwd");
  if (!path) return std::string();
  std::error_code failure;
  const auto status = std::filesystem::status(*path, failure);
  if (status.type() != std::filesystem::file_type::directory) {
    const auto why = failure ? failure : std::make_error_code(std::errc::not_a_directory);
    throw usage_error(fmt::format("--cwd {}: {}", *path, why.message()));
  }
  return std::move(*path);
}

env_changes environment_of(const CLI::App& app) {
  env_changes changes;
  for (auto& name : values_of(app, "--unset-env")) {
    if (name.empty() || name.find('=') != std::string::npos) {
      throw usage_error(fmt::format("--unset-env: '{}' is no variable name", name));
    }
    changes.push_back({std::move(name), std::nullopt});
  }
  for (const auto& path : values_of(app, "--env-file")) add_env_file(changes, path);
  for (const auto& entry : values_of(app, "--env")) add_variable(changes, entry, "--env");
  return changes;
}

command command_of(const words& given) { return given.size() == 1 ? command(given.front()) : command(given); }

void set_place(command& what, const std::string& cwd, const env_changes& env) {
  if (!cwd.empty()) what.cwd(cwd);
  for (const auto& change : env) {
    if (change.value)
      what.env(change.name, *change.value);
    else
      what.unset_env(change.name);
  }
}

}  // namespace berth::cli
