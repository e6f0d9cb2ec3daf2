#pragma once
/// Who gets where, by the modes of files.

#include <sys/types.h>

#include <string>

namespace berth {

/// Is it one of this process's groups?
bool is_in_group(gid_t group);

/// Does a directory above the path keep everybody out who has this user's rights and no capability, as commands of a sandbox have
/// none? One of this user's own does not: its mode can be changed. Blocks.
bool is_barred(const std::string& path);

}  // namespace berth
