#pragma once
/// A bench that needs a process of its own, such as one that holds much memory.

#include <sys/types.h>

#include <functional>

namespace berth::bench {

using sampler = std::function<double()>;

/// Forked when it is made: make it first in `main`, while there is neither a thread nor a context. It sleeps between samples.
class worker {
 public:
  /// `prepare` runs in the new process before its first sample.
  explicit worker(std::function<sampler()> prepare);
  worker(const worker&) = delete;
  ~worker();

  /// One sample, taken over there. Throws what it threw, as text.
  double sample();

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
};

}  // namespace berth::bench
