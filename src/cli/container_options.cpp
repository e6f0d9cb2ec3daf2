#include "cli/container_options.hpp"

#include "cli/arguments.hpp"
#include "cli/container_specs.hpp"
#include "cli/daemon_words.hpp"
#include "cli/isolation_options.hpp"
#include "cli/place_options.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace berth::cli {
namespace {

/// What only a container that is made can have ...
constexpr const char* made_values[] = {"--image",        "-v,--volume", "--mount", "-p,--publish", "--platform",
                                       "--tmpfs",        "--cap-drop",  "--label", "--name",       "--pull",
                                       "--security-opt", "--cpus",      "--pids"};
constexpr const char* made_flags[] = {"--read-only"};
/// ... and what concerns one that runs, too.
constexpr const char* other_values[] = {"-u,--user"};
/// They mean something on this host as well.
constexpr const char* shared_values[] = {"--network", "--memory"};
/// Of this host alone.
constexpr const char* host_flags[] = {"--login-env"};

/// "-v,--volume" is found as "--volume".
std::string long_name(const char* names) {
  const std::string_view all = names;
  const auto comma = all.find(',');
  return std::string(comma == all.npos ? all : all.substr(comma + 1));
}

bool is_given(const CLI::App& app, const std::string& name) {
  const CLI::Option* option = app.get_option_no_throw(name);
  return option != nullptr && option->count() > 0;
}

/// The first of them that was given, or nothing.
template <class Names>
std::string first_given(const CLI::App& app, const Names& names) {
  for (const char* each : names) {
    std::string name = long_name(each);
    if (is_given(app, name)) return name;
  }
  return {};
}

bool can_limit_commands(const CLI::App& app) { return app.get_option_no_throw("--cpu-time") != nullptr; }

/// Does the option mean something without a container?
bool is_for_host(const CLI::App& app, std::string_view name) {
  return name == "--network" ? has_isolation_options(app) : can_limit_commands(app);
}

bool asks_for_container(const CLI::App& app) {
  const auto kind = last_value_of(app, "--context");
  if (kind && *kind != "process" && *kind != "docker")
    throw usage_error(fmt::format("--context {}: there are 'process', which is this host, and 'docker'", *kind));
  if (kind == "docker") return true;
  if (!kind && (is_given(app, "--image") || is_given(app, "--container"))) return true;
  std::string other = first_given(app, made_values);
  if (other.empty()) other = first_given(app, made_flags);
  if (other.empty()) other = first_given(app, other_values);
  if (other.empty()) other = first_given(app, daemon_option_names);
  for (const char* each : shared_values) {
    if (other.empty() && !is_for_host(app, each)) other = first_given(app, std::span(&each, 1));
  }
  if (other.empty() && is_given(app, "--container")) other = "--container";
  if (!other.empty())
    throw usage_error(
        fmt::format("{} is for containers: add {}", other,
                    kind ? "--context docker in place of --context process" : "--image IMAGE or --container NAME"));
  return false;
}

void refuse_what_is_not_for_containers(const CLI::App& app) {
  const std::string sandbox = isolation_option_in(app);
  if (!sandbox.empty())
    throw usage_error(fmt::format(
        "{} is for sandboxes on this host; a container is limited by --read-only, --cap-drop and --network none",
        sandbox));
  const std::string other = first_given(app, host_flags);
  if (!other.empty())
    throw usage_error(fmt::format("{} is for this host; in a container, 'sh -lc COMMAND' reads its profile", other));
  if (!is_given(app, "--container")) return;
  std::string made = first_given(app, made_values);
  if (made.empty()) made = first_given(app, made_flags);
  if (made.empty() && is_given(app, "--network")) made = "--network";
  if (made.empty() && is_given(app, "--memory") && !can_limit_commands(app)) made = "--memory";
  if (!made.empty())
    throw usage_error(fmt::format("{} is for containers that are made; --container names one that runs", made));
}

std::string network_of_container(const CLI::App& app) {
  std::string network = text_of(app, "--network");
  if (network == "allow" || network == "deny")
    throw usage_error(
        fmt::format("--network {} is for --isolate; for a container write none, bridge, host or a name", network));
  return network;
}

pull_policy pull_of(const CLI::App& app) {
  const std::string word = text_of(app, "--pull");
  if (word.empty() || word == "missing") return pull_policy::missing;
  if (word == "always") return pull_policy::always;
  if (word != "never") throw usage_error(fmt::format("--pull {}: there are missing, always and never", word));
  return pull_policy::never;
}

void read_lists(const CLI::App& app, docker_context_options& options) {
  for (const auto& each : values_of(app, "--volume")) options.mounts.push_back(volume_of(each));
  for (const auto& each : values_of(app, "--mount")) options.mounts.push_back(mount_of(each));
  for (const auto& each : values_of(app, "--tmpfs")) options.mounts.push_back(tmpfs_of(each));
  for (const auto& each : values_of(app, "--publish")) options.ports.push_back(port_of(each));
  for (const auto& each : values_of(app, "--label")) options.labels.push_back(label_of(each));
  for (const auto& each : values_of(app, "--security-opt")) options.security_opt.push_back(security_option_of(each));
  options.cap_drop = values_of(app, "--cap-drop");
}

void read_limits(const CLI::App& app, docker_context_options& options) {
  options.limits.cpu = text_of(app, "--cpus");
  options.limits.pids = number_of(app, "--pids");
  // What runs in one that was there is limited as a command.
  if (options.container.empty())
    if (const auto bytes = size_of(app, "--memory")) options.limits.memory_mb = mebibytes_of(*bytes);
}

std::string directory_in_container(const CLI::App& app, std::string usual) {
  std::string path = text_of(app, "--cwd");
  if (path.empty()) return usual;
  if (!path.starts_with('/')) throw usage_error(fmt::format("--cwd {}: in a container it must be absolute", path));
  return path;
}

bool is_inherited(std::string_view name, const words& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [name](const std::string& each) {
    const auto star = each.find('*');
    return star == std::string::npos ? name == each : name.starts_with(std::string_view(each).substr(0, star));
  });
}

}  // namespace

void declare_container_options(CLI::App& app) {
  for (const char* names : made_values) add_value(app, names);
  for (const char* names : other_values) add_value(app, names);
  declare_daemon_options(app);
  for (const char* names : {"--context", "--container"}) add_value(app, names);
  for (const char* names : made_flags) app.add_flag(names);
  for (const char* names : shared_values) {
    if (app.get_option_no_throw(names) == nullptr) add_value(app, names);
  }
}

std::optional<docker_context_options> container_of(const CLI::App& app) {
  if (!asks_for_container(app)) return std::nullopt;
  refuse_what_is_not_for_containers(app);
  docker_context_options options;
  options.container = text_of(app, "--container");
  if (const std::string image = text_of(app, "--image"); !image.empty()) options.image = image;
  options.cwd = directory_in_container(app, std::move(options.cwd));
  options.user = text_of(app, "--user");
  options.network = network_of_container(app);
  options.platform = text_of(app, "--platform");
  options.read_only = app.count("--read-only") > 0;
  options.name = text_of(app, "--name");
  options.pull = pull_of(app);
  read_lists(app, options);
  read_limits(app, options);
  daemon_words daemon = daemon_of(app);
  options.host = std::move(daemon.host);
  options.docker_context = std::move(daemon.docker_context);
  return options;
}

void move_limits(docker_context_options& container, resource_limits& limits) {
  if (!container.container.empty()) return;
  resource_limits rest;
  if (limits.cpu_time()) rest.cpu_time(*limits.cpu_time());
  if (limits.file_size()) rest.file_size(*limits.file_size());
  if (limits.open_files()) rest.open_files(*limits.open_files());
  if (limits.nice()) rest.nice(*limits.nice());
  if (limits.processes()) {
    // The first process, which is ours, counts there.
    const std::uint64_t all = std::max(*limits.processes(), *limits.processes() + 1);
    container.limits.pids = std::min(all, container.limits.pids.value_or(all));
  }
  limits = rest;
}

env_changes inherited_by_container(const CLI::App& app) {
  env_changes changes;
  if (values_of(app, "--inherit-env").empty()) return changes;
  const words wanted = inherited_names(app);
  for (char** each = ::environ; *each != nullptr; ++each) {
    const std::string_view entry = *each;
    const auto equals = entry.find('=');
    if (equals == entry.npos || !is_inherited(entry.substr(0, equals), wanted)) continue;
    changes.push_back({std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1))});
  }
  return changes;
}

}  // namespace berth::cli
