#pragma once
/// Which bwrap is run.

#include <string>
#include <vector>

namespace berth {

/// Where programs of the system are.
std::vector<std::string> system_folders();

/// A real path, out of PATH of this process and the folders of the system. It is root's or ours, nobody else may write it, and it lies
/// below none of the roots, from where a command could replace it; `/` does not count. What a command of another handle could have
/// made comes last: first are those that only root may write and, where we are root, that lie in a folder of the system. Where the
/// variable BERTH_BWRAP names one, it is that or none. Blocks.
/// Errors: not_found, with a message that says what to install.
std::string find_bwrap(std::vector<std::string> roots, const std::vector<std::string>& of_system = system_folders());

}  // namespace berth
