#pragma once
/// Links in the names of roots.

#include <string>
#include <vector>

namespace berth {

/// The links that a name goes over, each by the real path of the directory that it lies in. As far as the way is there. Blocks.
std::vector<std::string> links_on_way(const std::string& name);

}  // namespace berth
