#pragma once
/// A running peer, and the talk with it.

#include "suite/peer_programs.hpp"
#include "suite/warm_place.hpp"

#include <berth/process.hpp>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace berth::suite {

struct peer {
  peer(asio::io_context& io, peer_program its_program)
      : program(std::move(its_program)), warm(std::make_shared<warm_place>(io)) {}

  peer_program program;
  /// For an answer, and for the greeting.
  std::chrono::milliseconds patience{30000};
  shared_place warm;
  std::vector<std::pair<std::string, std::string>> env = {};  ///< which it gets on top of ours
  process running;
  std::string version;     ///< what it greeted with; empty before
  std::string unread;      ///< of its standard output
  std::string complaints;  ///< the end of its standard error
  std::string failure;     ///< why there is nothing more to ask
};
using shared_peer = std::shared_ptr<peer>;

/// Starts it and waits for its greeting. Throws std::runtime_error with one line that says what it did instead.
task<void> open_peer(shared_peer its);
/// The microseconds that the work took by the peer's own clock. `request`: words between tabs.
///
/// Throws std::runtime_error with one line: what the peer says went wrong; or that it has ended, was silent or talked rubbish,
/// after which it is ended and every further request says the same.
task<double> ask_peer(shared_peer its, std::string request);
/// Ends it, if it is there.
task<void> close_peer(shared_peer its);

}  // namespace berth::suite
