#pragma once
/// JSON documents one after the other, as they arrive: replies of the Engine that go on.

#include "core/json.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

/// Finds where documents end by their brackets alone, so blanks, newlines, and none between them are all fine. No I/O.
class json_stream {
 public:
  /// A document longer than this many bytes is an error.
  explicit json_stream(std::size_t most = std::size_t{1} << 20) : most_(most) {}

  void feed(std::string_view bytes) { bytes_ += bytes; }
  /// The next whole document; nothing until more is fed. Errors: protocol for what is no object, limit_exceeded.
  std::optional<json> next();
  /// Is there the beginning of a document that has no end yet?
  bool unfinished() const noexcept;

 private:
  std::string bytes_;
  std::size_t begin_ = 0;  ///< of the document that is read
  std::size_t at_ = 0;     ///< looked at so far
  std::size_t depth_ = 0;
  std::size_t most_;
  bool in_text_ = false;
  bool escaped_ = false;
};

}  // namespace berth
