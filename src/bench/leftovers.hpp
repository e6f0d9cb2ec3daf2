#pragma once
/// What measuring left behind in this process.

#include <cstddef>

namespace berth::bench {

/// What this process has at one moment. A child is one of any thread; 0 where the kernel does not list them.
struct holdings {
  std::size_t descriptors = 0;
  std::size_t children = 0;
};

holdings holdings_now();

/// How much more there is of each, none below 0.
holdings more_than(holdings before, holdings now);

}  // namespace berth::bench
