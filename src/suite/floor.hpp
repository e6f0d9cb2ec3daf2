#pragma once
/// The least that starting a program costs: vfork, exec, waitpid.

#include <sys/types.h>

#include <string>
#include <vector>

namespace berth::suite {

/// Starts a program by its path with the caller's environment. `std_out` becomes its standard output, -1 leaves it ours.
/// Throws std::system_error where it could not be executed.
pid_t start_bare(const std::vector<std::string>& argv, int std_out = -1);

/// Starts a program as the leader of a session with this terminal. Throws std::system_error.
pid_t start_on_terminal(const std::vector<std::string>& argv, const std::string& terminal);

/// Waits for its end; throws std::runtime_error unless it exited with 0.
void wait_bare(pid_t pid);

/// A pipe: its two ends.
struct bare_pipe {
  bare_pipe();
  bare_pipe(const bare_pipe&) = delete;
  ~bare_pipe();

  void close_write_end();

  int read_end = -1;
  int write_end = -1;
};

/// One read; 0 at the end. Throws std::system_error.
std::size_t read_some(int fd, char* into, std::size_t size);

/// Path of the running program.
std::string own_path();

}  // namespace berth::suite
