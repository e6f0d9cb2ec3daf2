#pragma once
/// From what a user says to a daemon that answers.

#include "docker/engine.hpp"

#include <memory>

namespace berth {

/// Finds the daemons that may be meant, and connects to the first that answers. Errors: those of find_daemons and docker_engine::connect.
task<std::shared_ptr<docker_engine>> connect_daemon(asio::any_io_executor executor, daemon_choice choice);

}  // namespace berth
