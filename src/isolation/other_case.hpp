#pragma once
/// File systems that do not tell upper from lower case: what is protected by one name is found by others there.

#include <functional>
#include <string>

namespace berth {

struct name_lookup {
  /// Is something there? A link is not followed.
  std::function<bool(const std::string& path)> finds;
  /// Is it one of the names that the directory has?
  std::function<bool(const std::string& directory, const std::string& name)> lists;
};

/// On this host; both block.
name_lookup lookup_here();

/// Of the path's parts below `above`, the first that is found by another case of its name too, though its directory has no such name:
/// that other path. Empty if there is none.
std::string find_other_case(const std::string& path, const std::string& above, const name_lookup& lookup);

}  // namespace berth
