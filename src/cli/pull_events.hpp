#pragma once
/// How far a pull is, as events of `berth exec --json`.

#include "cli/standard_stream.hpp"
#include "core/event.hpp"

#include <berth/docker_context.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <memory>
#include <string>

namespace berth::cli {

/// A pull tells by a function that cannot wait; here its lines wait for a slow reader. Steps of a layer are all told, its bytes a few times
/// a second.
class pull_events {
 public:
  explicit pull_events(asio::any_io_executor executor);

  void tell(const pull_progress& now);

  /// Writes what was told and is told until `end`, and returns when all is written.
  ///
  /// Life: the stream stays alive for the whole await.
  task<std::error_code> write_to(standard_stream& out);
  void end();

 private:
  using clock = std::chrono::steady_clock;

  struct state;
  static task<std::error_code> write_all(std::shared_ptr<state> self, standard_stream& out);

  std::shared_ptr<state> state_;
};

}  // namespace berth::cli
