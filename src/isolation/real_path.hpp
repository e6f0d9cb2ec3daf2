#pragma once
/// Real paths of what may be missing.

#include <optional>
#include <string>

namespace berth {

/// None where nothing is, and where this user's rights do not lead (see is_barred). What cannot be looked at for another reason may be
/// there all the same: a command may have closed a directory above it, and could open it again. Blocks.
/// Errors: one line with the cause and what helps.
std::optional<std::string> real_path_if_there(const std::string& path);

/// Does the error say that nothing is there?
bool means_missing(int code) noexcept;

/// The error for what has to be looked at and cannot be.
[[noreturn]] void fail_to_look(const std::string& path, int code);

}  // namespace berth
