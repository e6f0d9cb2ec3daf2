#pragma once
/// The options that make a container the place in which a subcommand works.

#include "cli/env_file.hpp"

#include <berth/docker_context.hpp>
#include <berth/limits.hpp>

#include <optional>

namespace CLI {
class App;
}

namespace berth::cli {

/// --context, --image, --container and all that says what the container is like. --network and --memory may be declared already.
void declare_container_options(CLI::App& app);

/// Nothing where the place is this host. --image and --container imply --context docker; the others need one of the three. --cwd is
/// the directory in the container. Throws usage_error, also for options of places on this host.
std::optional<docker_context_options> container_of(const CLI::App& app);

/// Of the limits of a command those that the container has instead, in which it runs alone: memory and processes. A container that was
/// there before keeps its own, and the command its limits.
void move_limits(docker_context_options& container, resource_limits& limits);

/// Our variables that --inherit-env names: a container has none of them otherwise. Throws usage_error.
env_changes inherited_by_container(const CLI::App& app);

}  // namespace berth::cli
