#pragma once
// Turns the -1 of a system call into an exception.

#include "berth/error.hpp"

#include <cerrno>
#include <string>

namespace berth {

/// Gives the result back, or throws the current errno, with a phrase that says what was tried.
template <class Result>
Result check_syscall(Result result, const char* phrase) {
  if (result == static_cast<Result>(-1)) {
    const int code = errno;  // before anything can change it
    throw error(std::error_code(code, std::system_category()), phrase);
  }
  return result;
}

}  // namespace berth
