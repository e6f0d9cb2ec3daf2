#pragma once
/// The least that starting a program costs: vfork, exec, waitpid.

#include <sys/types.h>

#include <string>
#include <vector>

namespace berth::bench {

/// Starts a program by its path with the caller's environment. `std_out` becomes its standard output, -1 leaves it ours.
/// Throws std::system_error where it could not be executed.
pid_t start_bare(const std::vector<std::string>& argv, int std_out = -1);

/// Waits for its end; throws std::runtime_error unless it exited with 0.
void wait_bare(pid_t pid);

/// Path of the running program.
std::string own_path();

}  // namespace berth::bench
