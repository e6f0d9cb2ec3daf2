#pragma once
// What the library logs with: the user's hook, or nothing.

#include "berth/log.hpp"

#include <memory>
#include <string_view>

namespace berth {

/// A value; copies share the hook. Silent by default.
class logger {
 public:
  logger() = default;
  explicit logger(log_function hook);

  /// Is there a hook? Asked before a message that costs something to make.
  explicit operator bool() const noexcept { return hook_ != nullptr; }

  void debug(std::string_view message) const noexcept { log(log_level::debug, message); }
  void info(std::string_view message) const noexcept { log(log_level::info, message); }
  void warning(std::string_view message) const noexcept { log(log_level::warning, message); }
  void error(std::string_view message) const noexcept { log(log_level::error, message); }

  void log(log_level level, std::string_view message) const noexcept;

 private:
  std::shared_ptr<const log_function> hook_;
};

}  // namespace berth
