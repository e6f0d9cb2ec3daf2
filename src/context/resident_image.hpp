#pragma once
/// The resident that the library carries.

#include "os/memory_image.hpp"

#include <string_view>

namespace berth {

/// The program, one for the whole process.
memory_image& resident_image();

/// Its bytes, for a place that is not here; of this machine's architecture.
std::string_view resident_bytes() noexcept;

}  // namespace berth
