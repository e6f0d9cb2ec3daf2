#pragma once
/// What one line of output says about a denial, as text; nothing is asked of the host.

#include <string_view>
#include <vector>

namespace berth {

enum class meaning {
  nothing,
  read_only,
  busy,
  refused,
  missing,
  network,          ///< a name that cannot be resolved, a network that cannot be reached
  refused_by_host,  ///< a client could not connect to a host that it names
  unix_socket,      ///< one could not be made
  failed,           ///< what failed; why is on another line
};

struct reading {
  meaning is = meaning::nothing;
  /// What it may be about: paths, or words that are none.
  std::vector<std::string_view> named = {};
};

/// Of a line without colours and without its end.
reading read_line(std::string_view line);

}  // namespace berth
