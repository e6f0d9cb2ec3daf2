#pragma once
/// The frames in which the Engine sends the streams of a command that has no terminal.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

/// Takes the streams apart. Each frame is 8 bytes (stream, 3 zeros, size as big-endian u32) and its payload; headers and payloads
/// may be split anywhere, and empty frames mean nothing. No I/O.
/// Source: Docker Engine API, "Attach to a container", stream format.
class attach_frames {
 public:
  enum class stream : std::uint8_t { in = 0, out = 1, err = 2, system_error = 3 };
  struct piece {
    stream from;
    std::string_view bytes;  ///< of what was fed; never empty
  };

  /// The first piece of these bytes, which are shortened by what was used. Nothing once they are used up.
  /// Errors: protocol for what is no header: most likely the output of a terminal, or text of a proxy.
  std::optional<piece> next(std::string_view& bytes);

  /// Did the last frame end where it should?
  bool at_boundary() const noexcept { return left_ == 0 && have_ == 0; }

 private:
  static constexpr std::size_t header_size = 8;

  void read_header();

  unsigned char header_[header_size] = {};
  std::size_t have_ = 0;  ///< bytes of the header
  std::size_t left_ = 0;  ///< bytes of the payload still to come
  stream from_ = stream::out;
};

}  // namespace berth
