#pragma once
/// The home directory of this process's user.

#include <string>

namespace berth {

/// HOME, else what the user database says; empty if neither is an absolute path. Blocks.
std::string home_directory();

}  // namespace berth
