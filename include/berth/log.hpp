#pragma once
// The hook through which the library tells what it does.

#include <berth/api.hpp>

#include <functional>
#include <string_view>

namespace berth {

enum class log_level { debug, info, warning, error };

/// Receives one line without a newline; the text is valid only during the call.
///
/// Belongs to a configuration; without one the library is silent. Called on the thread of the io_context. What it
/// throws is ignored.
using log_function = std::function<void(log_level, std::string_view)>;

/// "debug", "info", "warning" or "error".
BERTH_API std::string_view to_string(log_level level) noexcept;

}  // namespace berth
