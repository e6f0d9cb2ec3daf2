#pragma once
/// The backend of Docker containers, with what only tests choose.

#include "berth/backend.hpp"
#include "berth/docker_context.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// Handles are asked for by their id. Errors: destroyed.
class docker_backend : public context_backend {
 public:
  virtual task<std::vector<docker_port>> published_ports(std::string id) = 0;
  virtual std::string container_id(const std::string& id) const = 0;
};

/// `try_socket` off: frames, even where the daemon is local.
/// Errors: those of check_docker_options.
std::shared_ptr<docker_backend> make_docker_backend(asio::any_io_executor executor, docker_context_options options,
                                                    bool try_socket = true);

}  // namespace berth
