#pragma once
// Errors of the system in lines of our own.

#include "berth/error.hpp"

#include <string>

namespace berth {

/// The error's message, with what the system says where the code is the system's: what() without the meaning of our own codes, which
/// the message tells better.
inline std::string message_with_cause(const error& failure) {
  if (failure.code().category() != std::system_category()) return failure.message();
  return failure.message() + ": " + failure.code().message();
}

}  // namespace berth
