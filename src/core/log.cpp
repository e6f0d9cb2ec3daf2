#include "berth/log.hpp"

#include "core/logger.hpp"

#include <utility>

namespace berth {

std::string_view to_string(log_level level) noexcept {
  switch (level) {
    case log_level::debug:
      return "debug";
    case log_level::info:
      return "info";
    case log_level::warning:
      return "warning";
    case log_level::error:
      return "error";
  }
  return "unknown";
}

logger::logger(log_function hook) {
  if (hook) hook_ = std::make_shared<const log_function>(std::move(hook));
}

void logger::log(log_level level, std::string_view message) const noexcept {
  if (!hook_) return;
  try {
    (*hook_)(level, message);
  } catch (...) {  // logging never changes what the library does
  }
}

}  // namespace berth
