#include "http/http_error.hpp"

#include <utility>

namespace berth::http {

std::string_view to_string(phase at) noexcept {
  switch (at) {
    case phase::resolve:
      return "resolve";
    case phase::connect:
      return "connect";
    case phase::tls:
      return "tls";
    case phase::write:
      return "write";
    case phase::read:
      return "read";
    case phase::protocol:
      break;
  }
  return "protocol";
}

http_error::http_error(phase at, bool may_have_arrived, std::error_code code, std::string message, std::string remote)
    : error(code, std::move(message), std::move(remote)), at_(at), may_have_arrived_(may_have_arrived) {}

http_error http_error::within(std::string_view phrase) const {
  std::string longer(phrase);
  if (!message().empty()) longer += ": " + message();
  return {at_, may_have_arrived_, code(), std::move(longer), remote()};
}

}  // namespace berth::http
