#pragma once
// Bytes that nobody is to find in memory that was given back.

#include <cstring>
#include <string>

namespace berth {

/// Overwrites the whole of a string's memory, and empties it.
inline void wipe(std::string& bytes) noexcept {
  ::explicit_bzero(bytes.data(), bytes.capacity());
  bytes.clear();
}

/// Does so at the end of a scope, for what is there then.
class wiped_after {
 public:
  explicit wiped_after(std::string& bytes) noexcept : bytes_(bytes) {}
  wiped_after(const wiped_after&) = delete;
  wiped_after& operator=(const wiped_after&) = delete;
  ~wiped_after() { wipe(bytes_); }

 private:
  std::string& bytes_;
};

/// The same bytes in memory that a move hands on instead of copying it; the argument is wiped.
inline std::string movable_secret(std::string bytes) {
  constexpr std::size_t never_inline = 64;
  const wiped_after here(bytes);
  std::string kept;
  kept.reserve(bytes.size() < never_inline ? never_inline : bytes.size());
  kept.append(bytes);
  return kept;
}

}  // namespace berth
