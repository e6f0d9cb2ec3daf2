#pragma once
/// Which requests go through a proxy, as the environment has it.

#include "http/url.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::http {

/// Proxies by scheme, and the hosts that are reached without one.
class proxy_rules {
 public:
  /// No proxy for anything.
  proxy_rules() = default;

  /// One for everything but what `no_proxy` names.
  explicit proxy_rules(const url& for_all, std::string_view no_proxy = {});

  /// Gives a variable's value, or nullopt.
  using environment = std::function<std::optional<std::string>(const char* name)>;

  /// From http_proxy, https_proxy, all_proxy, no_proxy; lower case wins over upper case, empty ones count as not there. HTTP_PROXY in
  /// upper case is ignored where REQUEST_METHOD is set: under CGI it is what a client sent. A proxy without a scheme is http.
  /// Errors: invalid_argument naming the variable, not its value; socks is not supported.
  static proxy_rules from(const environment& variables);
  static proxy_rules from_environment();

  /// The proxy for a URL of scheme http, https or tcp (which counts as http); null: none. Localhost and loopback addresses never have
  /// one.
  const url* choose(const url& target) const;

 private:
  struct exception {
    std::string host;        ///< "example.com" (and below), ".example.com" (only below), "10.0.0.0/8", "*"
    std::uint16_t port = 0;  ///< 0: any
  };

  static exception parse_exception(std::string_view entry);
  void read_exceptions(std::string_view list);
  bool is_excepted(const url& target) const;

  std::optional<url> http_;
  std::optional<url> https_;
  std::vector<exception> exceptions_;
};

/// The value of Proxy-Authorization for the account in a proxy's URL; nullopt if it has none.
std::optional<std::string> proxy_authorization(const url& proxy);

}  // namespace berth::http
