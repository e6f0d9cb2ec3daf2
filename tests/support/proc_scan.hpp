#pragma once
/// What /proc says about the processes of this machine.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace berth::test {

struct process_info {
  pid_t pid = 0;
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  char state = '?';  ///< as in /proc/PID/stat: Z is a zombie, T stopped
  std::string name;

  bool dead() const { return state == 'Z' || state == 'X'; }
};

/// Every process that can be seen, zombies included.
std::vector<process_info> all_processes();

/// Does a process with this pid exist that is not a zombie?
bool is_alive(pid_t pid);

/// The value of a variable in the environment that a process was started with; empty if it has none or it is not readable.
std::string variable_of(pid_t pid, const std::string& name);

/// The soft value of RLIMIT_LOCKS, by which commands are told apart; 0 where it is infinite or cannot be read.
std::uint64_t tag_of(pid_t pid);

/// The pid namespace that the process is in, as "pid:[4026531836]"; empty if it cannot be read.
std::string pid_namespace_of(pid_t pid);

/// The number by which a process is known in its own pid namespace; 0 if it cannot be read.
pid_t innermost_pid_of(pid_t pid);

std::string command_line_of(pid_t pid);

/// The foreground process group of its controlling terminal; -1 where it has none.
pid_t foreground_of(pid_t pid);

/// "pid 12 (sleep, S, parent 1): sleep 60"
std::string describe(const process_info& process);

/// How many descriptors this process has open.
std::size_t open_descriptor_count();

/// A file of /proc as a string; empty if it cannot be read.
std::string proc_file(pid_t pid, const std::string& name);

}  // namespace berth::test
