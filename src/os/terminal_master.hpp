#pragma once
/// The master of a pseudoterminal.

#include <sys/types.h>

#include <cstddef>

namespace berth {

/// Sets the size; where it changes, the foreground process group gets SIGWINCH.
void resize_terminal(int master, int columns, int rows) noexcept;

/// write(2) for one that does not block. Once nobody has the other end open it fails with EIO; write itself would say EAGAIN for
/// ever when what was typed before was never read.
ssize_t write_terminal(int master, const void* data, std::size_t size) noexcept;

/// Types the end-of-file character of the line, if it has one. False where there is no room for it now.
bool type_end_of_file(int master) noexcept;

}  // namespace berth
