#pragma once
// Paths in messages.

#include <string>
#include <string_view>

namespace berth {

/// The path in single quotes, on one line and in valid UTF-8: control characters, bytes that are no UTF-8, quotes and
/// backslashes are escaped as in C. The middle of a very long one is left out.
std::string shown_path(std::string_view path);

/// The same, whole.
std::string quoted_path(std::string_view path);

/// Valid UTF-8 without control characters: a terminal can show it as it is.
bool is_showable(std::string_view path);

}  // namespace berth
