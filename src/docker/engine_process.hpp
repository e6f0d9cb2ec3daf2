#pragma once
/// A command that the Engine runs, where no resident can.

#include "berth/backend.hpp"
#include "core/task_group.hpp"
#include "docker/container_exec.hpp"

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// Hears of the end of its place.
class engine_listener {
 public:
  virtual ~engine_listener() = default;
  virtual void on_gone() = 0;
};
using engine_listeners = std::vector<std::weak_ptr<engine_listener>>;

struct engine_start {
  container box;
  std::string user = {};
  std::vector<std::string> env = {};  ///< before the command's own
  /// For what a process object asks for without waiting; it ends with the place.
  std::weak_ptr<task_group> group = {};
  std::shared_ptr<engine_listeners> listeners = {};
};

/// What backend_process promises, but for this: no process of the command can be signalled or killed. A kill ends the stream, and with it
/// standard input; what runs goes on and is named as a survivor. A status has no signal: 128 and more are exit codes.
/// Errors: unsupported for command::end_leftovers.
task<std::unique_ptr<backend_process>> start_by_engine(asio::any_io_executor executor, engine_start where,
                                                       command what);

}  // namespace berth
