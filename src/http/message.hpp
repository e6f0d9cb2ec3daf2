#pragma once
/// The heads of requests and responses.

#include "http/headers.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace berth::http {

/// What goes before the body of a request. How the body is framed is no part of it: who sends it knows.
struct request_head {
  std::string method = "GET";
  /// "/path?query", for a proxy a whole URL, for CONNECT "host:port".
  std::string target = "/";
  headers fields = {};
};

struct response_head {
  int status = 0;
  /// Untrusted text.
  std::string reason = {};
  /// Of HTTP/1: 0 or 1.
  int minor_version = 1;
  headers fields = {};

  bool is_success() const noexcept { return status >= 200 && status <= 299; }
};

/// GET, HEAD, OPTIONS, TRACE: to do it twice is to do it once.
bool is_safe_method(std::string_view method) noexcept;

/// How a receiver finds the end of a body.
struct body_framing {
  enum class kind : std::uint8_t { none, length, chunked };
  kind how = kind::none;
  std::uint64_t length = 0;
};

/// The bytes of a head, with the framing of the body that follows.
///
/// Errors: invalid_argument for a method, target or field that cannot be sent or would end it early (control characters), for a
///         missing Host, and for Content-Length, Transfer-Encoding or Trailer among the fields.
std::string write_head(const request_head& head, const body_framing& framing);

/// One chunk of a chunked body; none at all for no bytes, which would end the body.
std::string write_chunk(std::string_view bytes);

/// The end of a chunked body.
std::string write_last_chunk();

}  // namespace berth::http
