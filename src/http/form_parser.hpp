#pragma once
/// multipart/form-data taken apart. No I/O: bytes are fed, events are asked for.

#include "berth/error.hpp"
#include "http/headers.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::http {

/// What a form may be at most.
struct form_limits {
  std::size_t head = 16 * 1024;  ///< bytes of one part's fields
  std::size_t parts = 10'000;
};

/// Takes a form apart as it comes. Bytes before the first part and behind the last are dropped.
class form_parser {
 public:
  enum class event : std::uint8_t {
    need_more,  ///< feed bytes or tell of the end
    part,       ///< a part begins: `fields()`, `name()`, `filename()`
    body,       ///< `take_body()` has bytes of it
    end,        ///< the form is complete. Given again from then on
  };

  /// From the field Content-Type. Errors: protocol if it is no multipart/form-data, or has no boundary.
  explicit form_parser(std::string_view content_type, form_limits limits = {});

  void feed(std::string_view bytes);
  void finish();

  /// Errors: protocol, limit_exceeded; it throws the same again.
  event next();

  const headers& fields() const noexcept { return fields_; }
  /// Of the part, as sent. Untrusted: a filename may be "../x".
  const std::string& name() const noexcept { return name_; }
  const std::optional<std::string>& filename() const noexcept { return filename_; }
  std::string take_body();

 private:
  enum class place : std::uint8_t { preamble, delimiter, head, body, end };

  std::string_view unread() const noexcept { return std::string_view(input_).substr(at_); }
  event step();
  event more();
  bool skip_preamble();
  bool read_delimiter();
  bool read_head();
  bool read_body();
  void read_field(std::string_view line);
  void read_disposition();
  [[noreturn]] void fail(errc code, const char* why);

  form_limits limits_;
  std::string delimiter_;  ///< CRLF, "--", boundary
  std::string input_;
  std::size_t at_ = 0;
  place place_ = place::preamble;
  std::size_t parts_ = 0;
  bool eof_ = false;
  headers fields_;
  std::string name_;
  std::optional<std::string> filename_;
  std::string body_;
  std::optional<errc> failure_;
  std::string reason_;
};

}  // namespace berth::http
