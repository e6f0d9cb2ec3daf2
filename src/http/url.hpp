#pragma once
/// URLs as HTTP and the ways to a daemon need them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace berth::http {

/// A parsed URL. Schemes: http, https, tcp, ssh (all with a host), unix (a path alone).
struct url {
  std::string scheme = {};  ///< lower case
  /// Percent-decoded. Present, even if empty, where there was an '@'.
  std::optional<std::string> user = {};
  std::optional<std::string> password = {};
  /// Lower case; a literal IPv6 address without its brackets, with its zone ("fe80::1%eth0") if it has one.
  std::string host = {};
  std::uint16_t port = 0;  ///< 0: none given
  /// As it is sent: percent-encoded, "/" at least for http and https. Of unix: the path of the socket, as it is.
  std::string path = {};
  std::optional<std::string> query = {};  ///< as it is sent, without the '?'

  /// What was given, else that of the scheme: 80, 443, 22; 0 where the scheme has none.
  std::uint16_t effective_port() const noexcept;
  /// "host" or "host:port" as in the Host field: the port only where it is not the scheme's own, brackets around IPv6, no zone.
  std::string authority() const;
  /// "/path?query"
  std::string target() const;
  /// All of it, user and password too: to be passed on, not to be shown.
  std::string text() const;
  /// Scheme, host, port and path: nothing that may be secret.
  std::string shown() const;
  /// Do both lead to the same server: scheme, host and port?
  bool same_origin(const url& other) const noexcept;
};

/// Spaces and other signs that may not stand in a path or query are percent-encoded; a fragment is dropped.
/// Errors: invalid_argument; the message shows no user, password or query.
url parse_url(std::string_view text);

/// What a reference (the Location of a redirect) means, seen from the base, which is http or https.
/// Errors: invalid_argument.
url resolve_reference(const url& base, std::string_view reference);

/// Encodes all but letters, digits and "-._~": for one segment of a path, or a name or value of a query.
std::string percent_encode(std::string_view text);
/// Encodes for a whole path: slashes stay.
std::string percent_encode_path(std::string_view path);
/// Errors: invalid_argument for a '%' without two digits behind it.
std::string percent_decode(std::string_view text);

/// "[::1]:80", "host:80": for messages and CONNECT.
std::string host_and_port(std::string_view host, std::uint16_t port);

/// Is it a literal IPv4 or IPv6 address (a zone may follow)?
bool is_address(std::string_view host);

/// Builds "a=1&b=x%20y".
class query_builder {
 public:
  query_builder& add(std::string_view name, std::string_view value);
  const std::string& text() const noexcept { return text_; }
  /// The path with a '?' and the query; the path alone while nothing was added.
  std::string behind(std::string_view path) const;

 private:
  std::string text_;
};

}  // namespace berth::http
