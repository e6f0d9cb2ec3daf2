#pragma once
/// Ports of the daemon's host that were left for it to choose.

#include <berth/docker_context.hpp>
#include <berth/task.hpp>

#include <string_view>
#include <vector>

namespace berth::cli {

/// With their numbers, of the handle's container. Asks the daemon only where some were left to it. Errors: those of published_ports.
task<std::vector<docker_port>> chosen_ports(docker_context place, handle where, std::vector<docker_port> asked);

/// A line for each on standard error.
void tell_ports(std::string_view subcommand, const std::vector<docker_port>& chosen);

}  // namespace berth::cli
