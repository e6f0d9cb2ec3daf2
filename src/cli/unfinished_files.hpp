#pragma once
/// Files that must not outlive us unfinished, whichever signal ends us.

#include <string>

namespace berth::cli {

/// Removes the file when INT, TERM, HUP or QUIT ends this process. At most eight at a time: false where there is no room, or the
/// path is too long. Paths are absolute.
bool remove_at_signal(const std::string& path);

/// The file is finished, or gone.
void forget_at_signal(const std::string& path);

/// From now on these signals remove the files and end us; those that are ignored stay so. Replaces handlers that others have.
void end_by_signals();

}  // namespace berth::cli
