#pragma once
/// Looking for a pattern in a stream that comes piece by piece, each byte once: no I/O.

#include <berth/background.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

class line_expression;

/// One stream. Text may span pieces and lines; a regular expression sees one line at a time.
class output_search {
 public:
  struct found {
    std::uint64_t offset = 0;
    std::string text;
  };

  /// Throws errc::invalid_argument for an expression that does not compile.
  explicit output_search(const output_pattern& what);

  /// Takes bytes that lie at this offset of the stream: all of them, or up to the end of a line, or of the match. Says how many.
  /// What lies between them and those before is lost: no match spans it.
  std::size_t take(std::string_view bytes, std::uint64_t offset);
  /// How much of an unfinished line was not looked at yet.
  std::size_t rest() const noexcept { return rest_seen_ ? 0 : line_.size(); }
  /// Looks at it as if it ended here.
  void look_at_rest();

  const std::optional<found>& match() const noexcept { return match_; }

 private:
  std::size_t take_text(std::string_view bytes);
  std::size_t take_line(std::string_view bytes);
  void look_at_line();
  void forget() noexcept;

  std::uint64_t next_ = 0;  ///< offset of the byte after the last one taken
  std::optional<found> match_;

  // Text: how much of it the last bytes match, and how much still does if the next byte does not (Knuth, Morris, Pratt).
  std::string text_;
  std::vector<std::size_t> fallback_;
  std::size_t matched_ = 0;

  std::shared_ptr<const line_expression> expression_;
  std::string line_;
  std::uint64_t line_offset_ = 0;
  bool rest_seen_ = false;
};

}  // namespace berth
