#pragma once
/// What the isolation of a place denied a command.

#include <berth/api.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

enum class denied_kind : std::uint8_t {
  write,        ///< outside of the writable roots, or a protected path
  tmp,          ///< a path below /tmp that only this host has, while /tmp is private
  network,      ///< the network is off
  unix_socket,  ///< unix sockets are denied
};

BERTH_API std::string_view to_string(denied_kind kind) noexcept;

/// The first thing that a command seems to have been denied: a guess, made when it has ended from the last 64 KiB that it wrote to
/// standard error (merged output: to that; a terminal: that it showed). docs/isolation.md has the rules.
struct denial {
  denied_kind kind = denied_kind::write;
  /// Absolute; empty for the network and sockets, and where the output names none.
  std::string path = {};
  /// For whoever reads the output: one line without its end, which names the setting. See `command::hints`.
  std::string line = {};
};

}  // namespace berth
