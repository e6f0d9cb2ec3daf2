#pragma once
/// Which bwrap is run.

#include <string>
#include <vector>

namespace berth {

/// A real path, out of PATH of this process and the usual places. It is root's or ours, nobody else may write it, and it lies below
/// none of the roots, from where a command could replace it; `/` does not count. Blocks.
/// Errors: not_found, with a message that says what to install.
std::string find_bwrap(std::vector<std::string> roots);

}  // namespace berth
