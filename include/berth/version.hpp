#pragma once
/// Which release of Berth these headers belong to.

#include <string_view>

namespace berth {

/// Major, minor and patch level, as in "1.2.3".
inline constexpr std::string_view version = "0.1.0";

}  // namespace berth
