#pragma once
/// Links at the end of a path.

#include "berth/error.hpp"

namespace berth {

/// Is it followed, where something is made at the path? A link that somebody else could put there is not.
enum class last_link { follow, refuse };

[[noreturn]] inline void refuse_last_link() {
  throw error(make_error_code(errc::invalid_argument),
              "it is a link, which is not followed here; name what it leads to (or PATH/. for a directory)");
}

}  // namespace berth
