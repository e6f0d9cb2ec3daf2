#pragma once
/// Words about writable roots, for whoever was denied something.

#include <string>
#include <vector>

namespace berth {

/// "writable roots are A, B".
std::string root_names(const std::vector<std::string>& roots);

/// "writable roots are A, B; add the directory to SETTING to allow it".
std::string roots_advice(const std::vector<std::string>& roots, const std::string& setting_name);

/// The path on one line, quoted only where it has to be.
std::string plainly(const std::string& path);

}  // namespace berth
