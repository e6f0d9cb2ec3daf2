#pragma once
/// As Docker names the directories of its contexts.

#include <string>
#include <string_view>

namespace berth {

/// In lower-case hexadecimal digits.
std::string sha256_hex(std::string_view bytes);

}  // namespace berth
