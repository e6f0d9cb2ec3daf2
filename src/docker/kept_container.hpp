#pragma once
/// Containers of ours whose first process is the image's, as no resident can be it.

#include "core/logger.hpp"
#include "docker/container.hpp"
#include "docker/owner.hpp"
#include "http/byte_stream.hpp"

#include <memory>

namespace berth {

struct kept_container {
  container box;
  /// Its standard input: the container ends, and is removed, when this closes.
  http::stream_ptr keeper;
};

/// Kept alive is a container by `cat`, else by what the image starts by itself, if that waits for its input; with an init of the daemon
/// that reaps. What fails or is cancelled leaves no container.
/// Errors: unsupported where nothing stays alive; those of the engine.
task<std::shared_ptr<kept_container>> launch_kept(std::shared_ptr<docker_engine> engine, docker_context_options wanted,
                                                  docker_labels labels);

}  // namespace berth
