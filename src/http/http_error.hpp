#pragma once
/// What went wrong with a request, how far it had come, and whether the server can have seen it.

#include "berth/error.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace berth::http {

/// How far a request had come.
enum class phase : std::uint8_t {
  resolve,   ///< a name into addresses
  connect,   ///< an address, a socket file or a proxy into a connection
  tls,       ///< the handshake, and what the other side refuses of it later
  write,     ///< sending the request
  read,      ///< waiting for the response, and receiving it
  protocol,  ///< the response came and makes no sense, or is not what may be accepted
};

std::string_view to_string(phase at) noexcept;

/// The error of a request. The message names host and cause, never credentials, queries or bodies.
///
/// Codes: those of the system and of Asio's resolver as they are; errc::timeout for a deadline; errc::lost for a connection that
/// ended too early; errc::protocol for what makes no sense, failed checks of certificates too; errc::limit_exceeded for a bound.
class http_error : public error {
 public:
  http_error(phase at, bool may_have_arrived, std::error_code code, std::string message, std::string remote = {});

  phase at() const noexcept { return at_; }

  /// False: the server cannot have acted on the request, and to send it again is harmless. True: nobody knows.
  bool may_have_arrived() const noexcept { return may_have_arrived_; }

  /// The same error with a phrase of context before its message.
  http_error within(std::string_view phrase) const;

 private:
  phase at_;
  bool may_have_arrived_;
};

}  // namespace berth::http
