#pragma once
/// The home directory of this process's user, and what must not be writable since it holds that.

#include <string>

namespace berth {

/// HOME, else what the user database says; empty if neither is an absolute path. Blocks.
std::string home_directory();

/// Is this real path a home directory, or above it? Who may write there could change what this user runs later. That of HOME counts,
/// and that of the user database: logins and cron go by the latter, whatever HOME is now. Blocks.
bool is_wide_root(const std::string& root);

}  // namespace berth
