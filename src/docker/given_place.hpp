#pragma once
/// Places in containers that are not ours, by whatever can run commands there.

#include "berth/backend.hpp"
#include "core/logger.hpp"
#include "docker/given_container.hpp"

#include <asio/any_io_executor.hpp>

namespace berth {

struct place_in_container {
  spawned_place spawned;
  docker_runner runner = docker_runner::resident;  ///< who it came to be
};

/// The options were checked. Errors: unsupported where a resident was asked for and none can live there; those of the engine.
task<place_in_container> spawn_in_given(asio::any_io_executor executor, given_container place,
                                        docker_context_options wanted, logger log);

}  // namespace berth
