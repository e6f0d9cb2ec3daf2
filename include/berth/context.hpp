#pragma once
/// A kind of place where commands run and files live, and everything that can be done there.

#include <berth/backend.hpp>
#include <berth/command.hpp>
#include <berth/exec_result.hpp>
#include <berth/handle.hpp>
#include <berth/process.hpp>
#include <berth/task.hpp>

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string_view>
#include <vector>

namespace berth {

/// A value over a shared backend: copies mean the same kind of place and know the same handles.
///
/// Functions that are awaited are `&`-qualified: keep the context in a variable. Every function of a handle throws
/// errc::destroyed for one that was destroyed or is not of this context.
/// Life: when the last copy goes, every handle that was not destroyed is ended the hard way (KILL, no grace), which may block
/// for some milliseconds. Contexts and what they gave die before the io_context.
class context {
 public:
  /// A context over a backend of your own; `executor` is where its coroutines run (one thread).
  context(asio::any_io_executor executor, std::shared_ptr<context_backend> backend);

  /// The backend's word: "process", "docker", ...
  std::string_view type() const noexcept;
  capabilities can() const noexcept;
  asio::any_io_executor get_executor() const;

  /// Makes a place and its working directory.
  /// Errors: permission_denied, not_a_directory, unavailable, resource_exhausted.
  task<handle> spawn() &;
  task<handle> spawn(spawn_options options) &;

  /// Ends everything in the place, and the place. A second call finds errc::destroyed.
  task<void> destroy(handle place) &;
  std::vector<handle> handles() const;

  /// Runs a command to its end and collects its output within the command's limits.
  ///
  /// What a command does is a value, not an exception: look at result.status. A start that failed is `start_failed`, a broken
  /// connection `lost`.
  /// Errors: invalid_argument for a command that cannot be (see `command::validate`), and for `command::input_stream`.
  /// Cancel: the command's tree is ended (TERM, grace, KILL), then the result returns as `cancelled` with what came; the next
  /// await of the caller throws operation_aborted. A command that had ended by itself keeps its status.
  task<exec_result> exec(handle place, command what) &;

  /// Starts a command and gives it to the caller to read, write and end. Returns once it runs.
  /// A start that failed gives a process whose next() is nullopt at once and whose status() says start_failed.
  task<process> exec_stream(handle place, command what) &;

 private:
  class state;
  std::shared_ptr<state> state_;
};

}  // namespace berth
