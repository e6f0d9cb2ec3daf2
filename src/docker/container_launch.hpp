#pragma once
/// Containers with a resident as their first process.

#include "context/resident_link.hpp"
#include "context/resident_process.hpp"
#include "core/logger.hpp"
#include "docker/container.hpp"
#include "docker/owner.hpp"
#include "docker/socket_offer.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>

namespace berth {

struct launched_container {
  container box;
  std::shared_ptr<resident_link> link;
  /// Handed where a socket came through: then this kernel is the container's.
  resident_transport transport = resident_transport::framed;
  /// By which the resident came, or might have.
  std::unique_ptr<socket_offer> offer = {};
};

struct container_launch_options {
  docker_context_options context = {};
  docker_labels labels = {};
  logger log = {};
  /// The working directory becomes this user's; empty: it stays root's. For one that is nobody else's.
  std::string directory_user = {};
  /// Off: frames, even where a socket would come through.
  bool try_socket = true;
};

/// Makes a container, puts the resident into it, starts it and greets the resident. What fails or is cancelled leaves no container.
/// Errors: those of the engine; start_failed with the daemon's reason.
task<std::shared_ptr<launched_container>> launch_container(asio::any_io_executor executor,
                                                           std::shared_ptr<docker_engine> engine,
                                                           container_launch_options options);

/// Attaches once more, after the connection broke; for a link that has a lease.
task<void> attach_resident(asio::any_io_executor executor, std::shared_ptr<launched_container> launched, logger log);

}  // namespace berth
