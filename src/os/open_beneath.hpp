#pragma once
/// openat2(2), which C libraries have no name for.

#include "os/unique_fd.hpp"

namespace berth {

/// Opens a relative path that is walked below the directory only, magic links of /proc refused; close-on-exec. None with errno
/// set: EXDEV for a way out and for any absolute link, ENOSYS where the kernel or a filter has no openat2.
unique_fd open_beneath(int directory, const char* path, int flags);

/// Opens an absolute path, wherever it leads; the same about magic links and errors.
unique_fd open_anywhere(const char* path, int flags);

/// As open_beneath, for the directory of an entry that must be reached without any link; works without openat2 too.
unique_fd open_directory_without_links(int directory, const char* path);

}  // namespace berth
