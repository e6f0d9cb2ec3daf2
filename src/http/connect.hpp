#pragma once
/// Connections: to addresses of a host in turn, to a socket file, through a proxy, under TLS.

#include "berth/task.hpp"
#include "http/byte_stream.hpp"
#include "http/http_error.hpp"
#include "http/lookup.hpp"
#include "http/tls.hpp"
#include "http/url.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace berth::http {

/// "Who asks for this host and port gets these addresses", as curl's --resolve. Certificates are still checked for the host.
struct resolve_override {
  std::string host;
  std::uint16_t port = 0;                   ///< 0: any
  std::vector<std::string> addresses = {};  ///< literal
};

struct connect_options {
  /// For all of it: names, every address, the proxy, TLS. Must be above 0.
  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  std::vector<resolve_override> resolve = {};
  /// Default: getaddrinfo.
  name_lookup lookup = {};
};

/// Where to, and how.
struct route {
  url to = {};                    ///< unix, tcp, http, https
  std::optional<url> proxy = {};  ///< http or https. A plain http target then only gets a connection to it
  std::shared_ptr<const tls_context> tls = {};  ///< needed for https, and for a proxy that is https

  /// For messages: host and port, or the socket file, and the proxy.
  std::string shown() const;
  /// Equal for routes whose connections can stand for one another.
  std::string key() const;
};

/// Connects. The addresses of a host are tried one after the other, each with its share of the time that is left, so that a dead one does
/// not use it up. Sockets are close-on-exec; tcp has TCP_NODELAY and keep-alive probes after 30 s.
///
/// Errors: http_error in phase resolve, connect (a proxy that refuses too: unauthorized for 407) or tls; it cannot have arrived.
/// Cancel: ends at once and leaves nothing.
task<stream_ptr> open_connection(route where, connect_options options);

}  // namespace berth::http
