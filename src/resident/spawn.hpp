#pragma once
/// Starting a program: clone without a copy of memory and without waiting for exec, raw system calls in the child.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/messages.hpp"

namespace berth::resident {

/// Everything the child reads between clone and exec, in one block that must stay until exec has happened or failed.
class launch {
 public:
  /// Takes the words and changes out of the start frame, on top of `environ`. Null where the frame is malformed.
  static launch* make(const wire::start& request, wire::reader& fields, char** environment);
  static void destroy(launch* l);

  int std_in = -1;
  int std_out = -1;
  int std_err = -1;
  int cgroup = -1;            ///< cgroup.procs of the one it joins
  int report = -1;            ///< where the failed step goes; closed by a successful exec
  bool has_terminal = false;  ///< std_in is one that becomes its own
  std::uint64_t tag = 0;
  std::uint64_t tag_hard = 0;
  std::uint64_t open_files = 0;  ///< RLIMIT_NOFILE, soft
  std::uint64_t open_files_hard = 0;

  /// Clones. The pid, or a negative errno.
  pid_t go();

 private:
  struct limit {
    wire::limit kind;
    std::uint64_t number;
  };

  launch() = default;
  static int child(void* self);
  [[noreturn]] void fail(wire::start_step step, long error, std::uint32_t detail = 0) const;
  void prepare();
  void set_limits() const;
  [[noreturn]] void execute() const;
  void find_program();

  char** argv_ = nullptr;
  char** shell_argv_ = nullptr;  ///< for a file that the kernel refuses with ENOEXEC
  char** envp_ = nullptr;
  char** candidates_ = nullptr;
  char* cwd_ = nullptr;
  char* stack_top_ = nullptr;
  limit* limits_ = nullptr;
  std::size_t limit_count_ = 0;
  bool is_searched_ = false;  ///< in PATH
  pid_t parent_ = 0;
  bool is_clean_ = false;  ///< in the child: only its own descriptors are left
};

}  // namespace berth::resident
