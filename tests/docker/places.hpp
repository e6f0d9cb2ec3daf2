#pragma once
/// Places in the containers of a daemon.

#include "docker/docker_backend.hpp"
#include "docker/engine.hpp"
#include "docker/left_containers.hpp"
#include "docker/owner.hpp"
#include "docker/real_daemon.hpp"

#include <berth/context.hpp>

#include <asio/io_context.hpp>

#include <unistd.h>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace berth::test {

/// How long a command may take on a busy machine.
inline constexpr std::chrono::seconds command_takes{40};

/// Busybox without a network, and without a pull.
inline docker_context_options small_container(const std::string& host) {
  docker_context_options options;
  options.image = "test/busybox:1";
  options.host = host;
  options.network = "none";
  options.pull = pull_policy::never;
  return options;
}

/// `try_socket` off: over frames.
inline context make_place(asio::io_context& io, docker_context_options options, bool try_socket) {
  return context(io.get_executor(), make_docker_backend(io.get_executor(), std::move(options), try_socket));
}

/// The containers that this process has made and not removed.
inline task<std::vector<std::string>> containers_of_test(asio::io_context& io, std::vector<daemon_address> daemon) {
  return container_ids_of(io, std::move(daemon), ::getpid());
}

}  // namespace berth::test
