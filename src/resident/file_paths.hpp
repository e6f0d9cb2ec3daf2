#pragma once
/// Where a path leads, found once and kept open.

#include "resident/file_base.hpp"

#include <sys/stat.h>

namespace berth::resident {

/// A name in an open directory.
struct located {
  file_fd directory;
  text name;  ///< one component, or "." for the directory itself
};

/// As openat(2), close-on-exec; links of /proc that lead to open files are refused where the kernel has openat2. None with errno.
file_fd open_at(int base, const char* path, int flags);
/// The same, refusing failures.
file_fd open_path(const char* path, int flags);
/// Below the directory, through no link at all. None with errno.
file_fd open_without_links(int directory, const char* path);

/// Where the last component lies; it is not looked at.
located parent_of(int base, const char* path);
located parent_of(const char* path);
/// The same, behind all links that the last component is.
located target_of(const char* path);
/// Makes what is missing of the path.
void make_directories(const char* path);

/// What a link says.
text link_text(int directory, const char* name);
/// What the name is, links themselves; false where nothing has it.
bool stat_of(const located& where, struct stat& found);

}  // namespace berth::resident
