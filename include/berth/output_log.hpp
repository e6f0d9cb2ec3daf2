#pragma once
/// What is kept of a stream that goes on and on: its last bytes, by absolute offset.

#include <berth/api.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace berth {

/// A piece of a log, and where the next one begins.
class BERTH_API log_piece {
 public:
  log_piece() = default;
  log_piece(std::string bytes, std::uint64_t offset, std::uint64_t gap, bool ended)
      : bytes_(std::move(bytes)), offset_(offset), gap_(gap), ended_(ended) {}

  const std::string& bytes() const& noexcept { return bytes_; }
  std::string&& bytes() && noexcept { return std::move(bytes_); }
  /// Of the first byte here: how many bytes the stream had before it.
  std::uint64_t offset() const noexcept { return offset_; }
  /// Where to read on.
  std::uint64_t next() const noexcept { return offset_ + bytes_.size(); }
  /// Bytes between the offset that was asked for and the first one here: they had left the log before they were read.
  std::uint64_t gap() const noexcept { return gap_; }
  /// Nothing will follow after next().
  bool ended() const noexcept { return ended_; }

 private:
  std::string bytes_;
  std::uint64_t offset_ = 0;
  std::uint64_t gap_ = 0;
  bool ended_ = false;
};

/// A ring of the last bytes of a stream. Bytes stay exact. It takes memory as it fills, up to its limit.
class BERTH_API output_log {
 public:
  /// `limit` of 0 keeps nothing, and counts.
  explicit output_log(std::size_t limit) : limit_(limit) {}

  void append(std::string_view bytes);
  /// Nothing will be appended any more.
  void end() noexcept { ended_ = true; }

  /// At most `max` bytes from `offset` on. An offset beyond the end gives nothing, and next() is the end.
  log_piece read(std::uint64_t offset, std::size_t max) const;
  /// The last bytes, at most so many.
  log_piece tail(std::size_t max) const;

  /// Offset of the first byte that is still here.
  std::uint64_t begin() const noexcept { return total_ - size_; }
  /// Bytes ever appended.
  std::uint64_t total() const noexcept { return total_; }
  bool ended() const noexcept { return ended_; }

 private:
  void grow(std::size_t wanted);

  std::size_t limit_;
  std::string ring_;  ///< its whole size is the capacity
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::uint64_t total_ = 0;
  bool ended_ = false;
};

}  // namespace berth
