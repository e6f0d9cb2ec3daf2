#pragma once
/// Containers whose owner was killed, and that did not go by themselves.

#include <berth/api.hpp>
#include <berth/task.hpp>

#include <asio/any_io_executor.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// Of a program that made a container.
enum class owner_state {
  alive,
  dead,     ///< certainly: its machine was started again, or its pid is gone or is another's
  unknown,  ///< on another machine, or in a pid namespace that cannot be seen from here
};

/// What is to be reaped.
class reap_options {
 public:
  reap_options() = default;

  /// Only look. Default: off.
  reap_options& dry_run(bool on) & {
    dry_run_ = on;
    return *this;
  }
  /// The daemon, as docker_context_options::host has it.
  reap_options& host(std::string url) & {
    host_ = std::move(url);
    return *this;
  }
  /// A context of the docker command.
  reap_options& docker_context(std::string name) & {
    docker_context_ = std::move(name);
    return *this;
  }
  reap_options dry_run(bool on) && { return std::move(dry_run(on)); }
  reap_options host(std::string url) && { return std::move(host(std::move(url))); }
  reap_options docker_context(std::string name) && { return std::move(docker_context(std::move(name))); }

  bool is_dry_run() const noexcept { return dry_run_; }
  const std::string& host() const noexcept { return host_; }
  const std::string& docker_context() const noexcept { return docker_context_; }

 private:
  bool dry_run_ = false;
  std::string host_;
  std::string docker_context_;
};

/// A container that Berth made, and what was done about it.
struct found_container {
  std::string id = {};
  std::string name = {};
  std::string image = {};
  std::string state = {};  ///< as the daemon says it: "running", "created", "exited"
  owner_state owner = owner_state::unknown;
  std::int64_t owner_pid = 0;  ///< 0 where its labels are not whole
  std::string owner_host = {};
  bool removed = false;
  std::string failure = {};  ///< why it could not be removed
};

/// Looks at all containers of a daemon that Berth made, on whatever machine, and removes those whose owner is certainly dead, with their
/// anonymous volumes. What a living program has is never touched, nor what may be one's. Gives all of them, in the order of their names.
///
/// Containers go by themselves when their owner dies, at the latest when their lease has passed; this is for those that could not,
/// since the daemon was stopped meanwhile or a container was made and not yet started.
/// Errors: unavailable in one line with all daemons that were tried; invalid_argument, not_found for what the options name. One that
///         cannot be removed is no error: the others are.
/// Cancel: what was removed stays removed.
BERTH_API task<std::vector<found_container>> reap_containers(asio::any_io_executor executor, reap_options options = {});

}  // namespace berth
