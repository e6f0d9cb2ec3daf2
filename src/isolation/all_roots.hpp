#pragma once
/// Roots below other roots: nothing is mounted for them, and yet things are to be protected in them.

#include "berth/isolation.hpp"

#include <string>
#include <vector>

namespace berth {

/// As resolve_writable_roots, with all that were asked for, the working directory first.
std::vector<std::string> resolve_all_roots(const std::string& cwd, const root_options& options = {});

/// Each once, and none below another: one that holds earlier ones takes the place of the first of them.
std::vector<std::string> outermost(const std::vector<std::string>& roots);

}  // namespace berth
