#pragma once
/// Paths in a container as the Engine's archives see them, and what is said of them: no I/O.

#include "berth/error.hpp"
#include "docker/engine_files.hpp"

#include <string>

namespace berth {

/// Without slashes at its end, empty components and dots; absolute.
std::string plain_path(const std::string& path);
std::string parent_of(const std::string& path);
std::string name_of(const std::string& path);

/// Does it lie in what the daemon's archives do not see, and would shadow?
bool is_out_of_reach(const engine_files_place& place, const std::string& path);

/// What the daemon, or a program, says of a file, with the code and the words that other places have for it.
error file_refusal(const error& failure);

}  // namespace berth
