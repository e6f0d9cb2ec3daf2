#pragma once
/// The beginning and the end of a stream of any length, in bounded memory.

#include <berth/exec_result.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace berth {

/// Keeps the first bytes up to a part of the limit, and the last bytes up to the rest.
class output_window {
 public:
  /// `head_part`, 0 to 1, is the part of the limit kept of the beginning.
  output_window(std::size_t limit, double head_part);

  void append(std::string_view bytes);
  stream_totals totals() const noexcept;
  /// Head and tail joined; the window is empty afterwards.
  std::string take();

 private:
  void append_tail(std::string_view bytes);

  std::size_t head_limit_;
  std::size_t tail_limit_;
  std::uint64_t seen_ = 0;
  std::string head_;
  // A ring once it is full; oldest_ is then where its oldest byte lies.
  std::string tail_;
  std::size_t oldest_ = 0;
};

/// What a window kept, as text: valid UTF-8 with a line at the gap, cut between characters. More than it kept is a hint, see
/// `command::hints`.
std::string window_text(std::string_view kept, const stream_totals& totals);

}  // namespace berth
