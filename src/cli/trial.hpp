#pragma once
/// A place that is tried by `berth doctor`.

#include <berth/command.hpp>
#include <berth/context.hpp>
#include <berth/task.hpp>

#include <memory>

namespace berth::cli {

struct trial {
  exec_result first, second;
  double opening_ms = 0;  ///< from the spawn to the end of the first command
  double warm_ms = 0;     ///< of the second
};

/// Spawns, runs the command twice, destroys. Errors: those of spawn and exec.
task<std::shared_ptr<trial>> try_place(context place, command what);

}  // namespace berth::cli
