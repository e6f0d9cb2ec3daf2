#pragma once
/// A small file of our own user, as a string.

#include <cstddef>
#include <string>

namespace berth {

/// All of it; pipes and other files without a size too. Blocks. Throws std::system_error, also for one that has more than `most` bytes.
std::string whole_file(const std::string& path, std::size_t most = std::size_t{64} << 20);

}  // namespace berth
