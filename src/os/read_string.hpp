#pragma once
/// Reading straight into a string.

#include <sys/types.h>

#include <cstddef>
#include <string>

namespace berth {

/// As read(2), begun again after a signal; the string holds what was read, and no byte of it was written before that. The one
/// file of the library that needs C++23, for std::string::resize_and_overwrite.
ssize_t read_string(int fd, std::size_t most, std::string& into);

}  // namespace berth
