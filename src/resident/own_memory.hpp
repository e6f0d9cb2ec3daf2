#pragma once
/// The memory of the container that the resident lives in: whom the kernel ended for want of it, and whom it is to end first.

#include <sys/types.h>

#include <cstdint>

namespace berth::resident {

/// Which commands died of it. The kernel only counts: a kill since a command began belongs to it if the command ended as one does
/// that was killed, and each kill to one command at most.
class own_memory {
 public:
  /// Finds the cgroup's counter. Where there is none nobody is told to have died of want of memory.
  void open();
  std::uint64_t kills() const;
  /// A command that began at `before` has ended: was that a kill for want of memory?
  bool claim(std::uint64_t before, int wait_status);

 private:
  int counter_ = -1;
  std::uint64_t claimed_ = 0;
};

/// The kernel takes this process, and what it starts, before the resident, which needs little itself but may be holding much for its
/// owner. Where that is not allowed nothing happens.
void offer_to_oom_killer(pid_t process);

}  // namespace berth::resident
