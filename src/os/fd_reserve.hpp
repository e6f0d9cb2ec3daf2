#pragma once
/// Descriptors kept open so that room is left for others.

#include "os/unique_fd.hpp"

#include <cstddef>
#include <vector>

namespace berth {

/// Descriptors that are to come. Each is held as a placeholder until shortly before it arrives, so that the lack of room shows
/// when the work is asked for and not when it has begun.
class fd_reserve {
 public:
  /// Expects so many more; false with errno set if there is no room for them.
  bool expect(std::size_t count);
  /// They came, or never will.
  void settle(std::size_t count) noexcept;

  /// Lets go of up to so many placeholders.
  void make_room(std::size_t count) noexcept;
  /// Holds again what is still expected, as far as there is room.
  void refill();

  std::size_t expected() const noexcept { return expected_; }

 private:
  bool hold_one();

  std::size_t expected_ = 0;
  std::vector<unique_fd> held_;
};

}  // namespace berth
