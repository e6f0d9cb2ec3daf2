#pragma once
/// As the first process of a container: how to reach the owner is found out, not known.

namespace berth::resident {

/// Connects to a socket that the owner may have put there, and waits until it says something. -1: there is none, or nobody on this
/// kernel listens, and the standard streams are the way.
int join_socket(const char* path);

}  // namespace berth::resident
