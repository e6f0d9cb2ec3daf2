#pragma once
/// The directory a place starts in.

#include <string>

namespace berth {

/// Makes the directory with its parents if it is missing and gives its real path. Empty is the caller's own. Blocks.
/// Errors: permission_denied (also where it may not be entered), not_a_directory.
std::string make_working_directory(const std::string& path);

}  // namespace berth
