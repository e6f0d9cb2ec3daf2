#pragma once
/// Starting a command in a place, and running one to its end.

#include "core/blocking.hpp"

#include <berth/backend.hpp>
#include <berth/command.hpp>
#include <berth/exec_result.hpp>
#include <berth/process.hpp>
#include <berth/task.hpp>

#include <asio/any_io_executor.hpp>

#include <memory>

namespace berth {

/// Where a command is to run. Let go as soon as it was started: what runs does not keep its place alive.
struct exec_place {
  asio::any_io_executor executor;
  std::shared_ptr<backend_place> place;
  std::shared_ptr<blocking_pool> pool;
  bool feeds_input = false;  ///< command::input goes through write(); else the backend takes it from the command
};

class process_core;

/// The command is valid, its cwd absolute. See process_core::settle for what comes next.
task<std::shared_ptr<process_core>> start_process(exec_place where, command what);

/// The same as a process.
task<process> start_command(exec_place where, command what);

/// See context::exec.
task<exec_result> run_command(exec_place where, command what);

}  // namespace berth
