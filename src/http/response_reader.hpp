#pragma once
/// Responses out of bytes. No I/O: bytes are fed, events are asked for.

#include "http/message.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace berth::http {

/// Bounds of a response apart from its body.
struct reader_limits {
  /// Bytes of status line and fields, of trailers, and of a line between chunks.
  std::size_t head = 64 * 1024;
  /// 1xx answers before the real one.
  std::size_t interim = 16;
};

/// Reads one response to one request, and the 1xx answers before it.
///
/// What would let a second response hide in the first is refused: several or odd Content-Length, Content-Length beside
/// Transfer-Encoding, codings other than chunked, control characters, line ends without CR.
class response_reader {
 public:
  enum class event : std::uint8_t {
    need_more,  ///< feed bytes or tell of the end
    interim,    ///< `head()` is a 1xx answer; the real one follows
    head,       ///< `head()` is the final one, or 101
    body,       ///< `take_body()` has bytes
    end,        ///< the response is complete; `take_rest()` is what came behind it. Given again from then on
  };

  /// The method decides whether a body follows: none for HEAD, nor for a CONNECT that succeeds.
  explicit response_reader(std::string_view method, reader_limits limits = {});
  ~response_reader();

  void feed(std::string_view bytes);
  /// The transport has ended in an orderly way: that is the end of a body without a length, and a fault elsewhere.
  void finish();

  /// Errors: http_error: protocol for what makes no sense, read and errc::lost for an end in the middle, errc::limit_exceeded. It
  ///         throws the same again.
  event next();

  const response_head& head() const noexcept;
  /// The bytes of the last `body` event, at least one.
  std::string take_body();
  const headers& trailers() const noexcept;
  /// Bytes that were fed and are no part of what was read: after `end`, and after `head` of an upgraded connection.
  std::string take_rest();

  /// Has a byte come?
  bool started() const noexcept;
  /// The length of the body that follows, if the head says it; nullopt if none follows.
  std::optional<std::uint64_t> content_length() const noexcept;
  /// Does the body come in chunks?
  bool chunked() const noexcept;
  /// May another request follow on this connection? Only after `end`, before `take_rest`.
  bool reusable() const noexcept;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace berth::http
