#pragma once
/// What `berth doctor` finds out about containers.

#include "cli/diagnosis.hpp"
#include "cli/trial.hpp"
#include "docker/daemon_report.hpp"

#include <berth/docker_context.hpp>
#include <berth/task.hpp>

#include <asio/io_context.hpp>

#include <string>
#include <vector>

namespace berth::cli {

/// Asks the daemon that these options mean, and runs a command in a container: of their image, which is pulled where it is missing, or of the
/// smallest image that is there where `image` is empty. A machine without a daemon is no failure. Within some seconds, pulls apart.
task<std::vector<finding>> examine_containers(asio::io_context& io, docker_context_options options);

/// From what a daemon says of itself.
finding daemon_finding(const daemon_report& report);

/// From `exit 7`, twice, in a container of the image.
finding container_finding(const std::string& image, const trial& tried);

}  // namespace berth::cli
