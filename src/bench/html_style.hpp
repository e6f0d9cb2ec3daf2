#pragma once
/// How the page looks.

#include <string_view>

namespace berth::bench {

extern const std::string_view page_style;

/// Patterns that the plots fill with.
extern const std::string_view page_patterns;

}  // namespace berth::bench
