#pragma once
/// A program that the library starts for itself, in a process group of its own.

#include "berth/task.hpp"
#include "os/unique_fd.hpp"

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace berth {

class memory_image;

/// A descriptor of ours, and its number in the helper.
struct placed_fd {
  int from = -1;
  int to = -1;
};

struct helper_options {
  /// First the name that /proc shows.
  std::vector<std::string> argv = {};
  /// "NAME=VALUE"; default: the environment of this process.
  std::optional<std::vector<std::string>> env = {};
  /// Those of 0, 1 and 2 that are not placed are /dev/null. Close-on-exec descriptors stay out of the helper.
  std::vector<placed_fd> fds = {};
};

/// A child of this process and its pidfd.
///
/// Life: destroying it neither ends nor reaps the child; whoever owns it kills and waits.
class helper_process {
 public:
  /// What wait gives where the host program took the exit status away (it reaps every child, or ignores SIGCHLD).
  static constexpr int status_unknown = -1;

  /// Starts the program with default signals and an empty mask.
  /// Errors: those of exec; unsupported before Linux 5.3.
  static helper_process start(const std::string& path, const helper_options& options);
  static helper_process start(memory_image& image, const helper_options& options);

  pid_t pid() const noexcept;
  /// False in a copy of this process that was forked and never executed: the child is not its own.
  bool is_ours() const noexcept;

  /// Waits for the end, reaps the child and gives the status as wait(2) has it. May be called again.
  /// Cancel: the child goes on.
  task<int> wait() const;
  /// The same without an io_context; false if the time has passed.
  bool wait_blocking(std::chrono::milliseconds time) const;
  /// What wait gave, once the end was seen.
  std::optional<int> status() const noexcept;
  /// Does nothing once it has ended.
  void kill(int signo) const noexcept;

 private:
  struct state;
  explicit helper_process(std::shared_ptr<state> s) : state_(std::move(s)) {}
  static task<int> wait_on(std::shared_ptr<state> self);

  std::shared_ptr<state> state_;
};

/// "exited with 3", "was killed by signal 9": the end of a helper for a message.
std::string describe_wait_status(int status);

}  // namespace berth
