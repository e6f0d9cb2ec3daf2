#pragma once
/// What an owner keeps while a connection may be cut and come back: no I/O.

#include "wire/frame.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

using resident_token = std::array<char, wire::token_size>;

/// Random bytes of the kernel.
resident_token make_resident_token();

/// Counts the frames of both directions across connections, and keeps those that the resident has not acknowledged.
class resident_lease {
 public:
  explicit resident_lease(const resident_token& token) : token_(token) {}

  const resident_token& token() const noexcept { return token_; }

  /// A new connection begins; the hello says how much of the resident's frames was received.
  std::uint64_t connect() noexcept;
  /// Looks for the place where the resident begins (anew) in bytes that were not handled yet. Gives what is to be handled: all
  /// of them, or what lies behind the last token. Sets `found` in that case: a welcome is next. `at_welcome`: the bytes begin with
  /// one, and the token in it is no beginning.
  std::string_view look_for_token(std::string_view bytes, bool at_welcome, bool& found) const noexcept;
  /// The resident was found. From here its frames count from what the hello said.
  void begin_incoming() noexcept { position_ = told_; }

  /// Keeps a frame that is sent, or would be.
  void sent(std::string frame);
  /// The resident has had so many bytes of our frames; false if it cannot be.
  bool acknowledged(std::uint64_t bytes) noexcept;
  /// Frames to send again.
  std::vector<std::string> unacknowledged() const;

  /// A frame of the resident; false if it was handled on an earlier connection.
  bool received(std::size_t bytes) noexcept;
  std::uint64_t received() const noexcept { return received_; }
  /// Is it time to acknowledge? Says so once for each 64 KiB.
  bool acknowledgement_due() noexcept;

 private:
  resident_token token_;
  std::deque<std::string> kept_;
  std::uint64_t kept_from_ = 0;  ///< offset of the first kept frame
  std::uint64_t sent_ = 0;
  std::uint64_t told_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t acknowledged_ = 0;
};

}  // namespace berth
