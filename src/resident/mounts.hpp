#pragma once
/// What is mounted in a sandbox, for its owner.

namespace berth::resident {

/// Writes down the mounts of this process, while no command has run yet.
void copy_mount_table(int to);

/// Hands over the namespace of our mounts, through a socket: with it somebody outside can do what nobody in the sandbox may.
void send_mount_namespace(int socket);

/// In a process of its own, outside: makes the mounts of the namespace private, so that what this host mounts from now on does not
/// appear there, where it could be written; then writes them down anew. 0, or the errno.
int seal_mounts(int name_space, int table);

}  // namespace berth::resident
