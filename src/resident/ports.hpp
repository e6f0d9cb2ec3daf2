#pragma once
/// The TCP ports that the processes of a command listen on.

#include "resident/tree.hpp"

namespace berth::resident {

/// Appends them as `port_list` has them. What takes long is cut short: docs/resident.md says where.
void put_listening_ports(tree& all, const membership& whose, buffer& to);

}  // namespace berth::resident
