#pragma once
/// The backend of Docker containers, with what only tests choose.

#include "berth/backend.hpp"
#include "berth/docker_context.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>

namespace berth {

/// `try_socket` off: frames, even where the daemon is local.
/// Errors: those of check_docker_options.
std::shared_ptr<context_backend> make_docker_backend(asio::any_io_executor executor, docker_context_options options,
                                                     bool try_socket = true);

}  // namespace berth
