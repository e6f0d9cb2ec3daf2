#pragma once
/// A resident as a guest: beside the processes of a container that is not ours.

#include "context/resident_link.hpp"
#include "core/logger.hpp"
#include "docker/container_exec.hpp"
#include "docker/given_container.hpp"

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace berth {

struct launched_guest {
  container box;
  container_exec program;
  std::shared_ptr<resident_link> link;
};

struct guest_launch_options {
  /// "NAME=VALUE", for the resident and so for all commands.
  std::vector<std::string> env = {};
  std::string user = {};  ///< empty: the container's
  std::chrono::milliseconds lease{0};
  logger log = {};
};

/// Puts the resident into the container and greets it there. Tried are, in this order: the root directory, where it can be written;
/// directories with a file system of their own; through a shell, what of the container's file systems lies in memory. Its file is gone
/// when this returns. Null where no resident can live; `why_not` then says what was tried, and how it failed.
/// Errors: those of the engine.
/// Cancel: nothing is left running, and no file but where the daemon cannot be reached any more.
task<std::shared_ptr<launched_guest>> launch_guest(asio::any_io_executor executor, given_container place,
                                                   guest_launch_options options, std::shared_ptr<std::string> why_not);

/// Sends the resident something now and then, so that neither side takes a quiet connection for a dead one, and ends the link when
/// nothing came from there for the whole lease, unless the container is paused. Until the link is lost.
task<void> keep_heard(asio::any_io_executor executor, std::shared_ptr<launched_guest> guest,
                      std::chrono::milliseconds lease);

/// Why the connection to it ended, as far as the daemon knows.
task<resident_end> explain_guest_end(container box, container_exec program);

}  // namespace berth
