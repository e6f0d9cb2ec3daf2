#pragma once
// Text: UTF-8 boundaries, blanks, shell quoting, base64, durations.

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace berth {

/// The last position up to `at` that is not inside a character; the size of the text if `at` is beyond it.
///
/// Bytes that are not UTF-8 count as characters of their own. Looks at no more than three bytes either side.
std::size_t utf8_floor(std::string_view text, std::size_t at) noexcept;

/// The first position from `at` on that is not inside a character.
std::size_t utf8_ceil(std::string_view text, std::size_t at) noexcept;

/// The bytes as valid UTF-8: each maximal ill-formed part becomes one U+FFFD, as browsers and Unicode do it.
std::string to_text(std::string_view bytes);

bool is_utf8(std::string_view bytes) noexcept;

/// Cuts a stream of bytes at character boundaries. The bytes stay as they are, ill-formed ones too.
class utf8_stream {
 public:
  /// Gives what was kept and these bytes, without the beginning of an unfinished character at the end.
  std::string feed(std::string_view bytes);

  /// Gives the beginning of a character that never came to its end: at most three bytes.
  std::string finish();

 private:
  std::string kept_;
};

/// Without the blanks at both ends.
std::string_view trimmed(std::string_view text, std::string_view blanks = " \t") noexcept;

/// One word for a POSIX shell, quoted if it needs it. Throws invalid_argument for a NUL, which no shell can carry.
std::string shell_quote(std::string_view word);

/// Words joined to a command line.
std::string shell_join(std::span<const std::string> words);

std::string base64_encode(std::string_view bytes);

/// Strict: standard alphabet, padded, no spaces, unused bits zero. Throws protocol for anything else.
std::string base64_decode(std::string_view text);

/// Reads "1.5s", "200ms", "2m", "1h30m", "1d": numbers with units in falling order, the whole an exact number of
/// milliseconds that also fits in nanoseconds.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text) noexcept;

}  // namespace berth
