#include "cli/place_options.hpp"

#include "cli/arguments.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <utility>

namespace berth::cli {

void declare_place_options(CLI::App& app) {
  for (const char* names : {"--cwd", "-e,--env", "--unset-env", "--env-file", "--inherit-env"}) add_value(app, names);
  app.add_flag("--clean-env");
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

void add_changes(env_changes& changes, env_changes more) {
  for (auto& each : more) changes.push_back(std::move(each));
}

std::vector<std::string> inherited_names(const CLI::App& app) {
  auto names = values_of(app, "--inherit-env");
  if (names.empty() && app.count("--clean-env") == 0) return {"*"};
  for (const auto& name : names) {
    const auto star = name.find('*');
    const bool usable = !name.empty() && name.find('=') == std::string::npos && (star >= name.size() - 1);
    if (!usable)
      throw usage_error(fmt::format("--inherit-env: '{}' is no variable name; write NAME or 'PREFIX*'", name));
  }
  return names;
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
