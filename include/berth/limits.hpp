#pragma once
/// How much a command may use.

#include <berth/api.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace berth {

/// A limit that can have ended a command.
enum class limit_kind : std::uint8_t { none, memory, cpu_time, file_size, processes };

BERTH_API std::string_view to_string(limit_kind kind) noexcept;

/// Kernel limits of a command. What is not set is as the place has it. nice below 0 and values above the place's own need
/// privileges, and the start fails without them.
///
/// Memory and processes hold for the command as a whole, with all that it starts, where a cgroup can be made for it; `berth doctor`
/// says whether that is so here. Elsewhere, and the others always, they hold for each process (RLIMIT_DATA, RLIMIT_CPU, RLIMIT_FSIZE,
/// RLIMIT_NPROC, RLIMIT_NOFILE; setrlimit(2)). docs/cancellation-and-limits.md says what a command sees of each.
class BERTH_API resource_limits {
 public:
  resource_limits() = default;

  /// Bytes of memory of the command as a whole; beyond them the kernel ends all of it, as end_reason::oom_killed. Without a cgroup:
  /// of private writable memory of one process, beyond which allocations fail in the command.
  resource_limits& memory(std::uint64_t bytes) & {
    memory_ = bytes;
    return *this;
  }
  /// Processor time of one process. Then SIGXCPU, and SIGKILL a second later. At least 1 s.
  resource_limits& cpu_time(std::chrono::seconds time) & {
    cpu_time_ = time;
    return *this;
  }
  /// Bytes of the largest file that may be written. Beyond them SIGXFSZ.
  resource_limits& file_size(std::uint64_t bytes) & {
    file_size_ = bytes;
    return *this;
  }
  /// Processes and threads of the command as a whole; beyond them `fork` fails in it. Without a cgroup: of the user that the
  /// command runs as, on the whole host, and not enforced for root.
  resource_limits& processes(std::uint64_t count) & {
    processes_ = count;
    return *this;
  }
  /// Descriptors of one process.
  resource_limits& open_files(std::uint64_t count) & {
    open_files_ = count;
    return *this;
  }
  /// Added to the niceness, -20 (first) to 19 (last).
  resource_limits& nice(int value) & {
    nice_ = value;
    return *this;
  }
  resource_limits memory(std::uint64_t bytes) && { return std::move(memory(bytes)); }
  resource_limits cpu_time(std::chrono::seconds time) && { return std::move(cpu_time(time)); }
  resource_limits file_size(std::uint64_t bytes) && { return std::move(file_size(bytes)); }
  resource_limits processes(std::uint64_t count) && { return std::move(processes(count)); }
  resource_limits open_files(std::uint64_t count) && { return std::move(open_files(count)); }
  resource_limits nice(int value) && { return std::move(nice(value)); }

  const std::optional<std::uint64_t>& memory() const noexcept { return memory_; }
  const std::optional<std::chrono::seconds>& cpu_time() const noexcept { return cpu_time_; }
  const std::optional<std::uint64_t>& file_size() const noexcept { return file_size_; }
  const std::optional<std::uint64_t>& processes() const noexcept { return processes_; }
  const std::optional<std::uint64_t>& open_files() const noexcept { return open_files_; }
  const std::optional<int>& nice() const noexcept { return nice_; }
  /// Nothing is set.
  bool empty() const noexcept;

  /// These, and of what is not set here the other's.
  resource_limits over(const resource_limits& other) const;

  /// Throws errc::invalid_argument naming the first that cannot be.
  void validate() const;

 private:
  std::optional<std::uint64_t> memory_;
  std::optional<std::chrono::seconds> cpu_time_;
  std::optional<std::uint64_t> file_size_;
  std::optional<std::uint64_t> processes_;
  std::optional<std::uint64_t> open_files_;
  std::optional<int> nice_;
};

}  // namespace berth
