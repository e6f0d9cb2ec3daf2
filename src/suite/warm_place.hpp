#pragma once
/// A context with one warm handle, which the subjects of a group share.

#include "os/scratch_directory.hpp"

#include <berth/bench.hpp>
#include <berth/process_context.hpp>

#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace berth::suite {

struct warm_place {
  /// On this host.
  explicit warm_place(asio::io_context& its_io, bool in_sandbox = false) : io(its_io), isolated(in_sandbox) {}
  /// Elsewhere.
  warm_place(asio::io_context& its_io, std::function<context()> its_maker) : io(its_io), make(std::move(its_maker)) {}

  asio::io_context& io;
  std::function<context()> make;
  bool isolated = false;  ///< with the settings that an isolation has by default, in a directory of its own
  std::optional<scratch_directory> directory;
  std::optional<context> place;
  handle where;
};
using shared_place = std::shared_ptr<warm_place>;

/// Makes both, or neither if they are there.
task<void> open_place(shared_place warm);
/// Ends both, if they are there.
task<void> close_place(shared_place warm);

/// A subject that finds the place open.
bench::subject in_place(shared_place warm, bench::subject what);

/// Throws unless it exited with 0.
void require_ok(const exit_status& status);

/// Runs /bin/true, the smallest command there is.
task<void> exec_true(context place, handle where);

}  // namespace berth::suite
