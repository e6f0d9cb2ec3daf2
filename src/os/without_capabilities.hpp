#pragma once
/// Doing with fewer rights what a command may have prepared.

#include <array>
#include <cstdint>

namespace berth {

/// While it lives, the calling thread has no effective capability: root may do what root may without them, as in a sandbox. Made
/// and destroyed by one thread; of others nothing changes.
class without_capabilities {
 public:
  without_capabilities() noexcept;
  ~without_capabilities();
  without_capabilities(const without_capabilities&) = delete;
  without_capabilities& operator=(const without_capabilities&) = delete;

  /// False where the system did not let go of them.
  bool holds() const noexcept { return holds_; }

 private:
  struct set {
    std::uint32_t effective, permitted, inheritable;
  };
  std::array<set, 2> before_{};
  bool changed_ = false;
  bool holds_ = false;
};

}  // namespace berth
