#pragma once
/// What errno of a file operation means to a caller.

#include "berth/error.hpp"

#include <string>

namespace berth {

/// The error with the errc that fits, and the system's own words as its message; `step`, where given, stands before them.
/// Codes without an errc that fits stay as they are.
error file_failure(int code, const std::string& step = {});

/// Throws it for a -1.
template <class Result>
Result check_file(Result result, const char* step = "");

[[noreturn]] void fail_with_errno(const char* step);

template <class Result>
Result check_file(Result result, const char* step) {
  if (result == static_cast<Result>(-1)) fail_with_errno(step);
  return result;
}

}  // namespace berth
