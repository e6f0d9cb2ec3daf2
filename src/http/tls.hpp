#pragma once
/// TLS over any stream of bytes.

#include "berth/task.hpp"
#include "http/byte_stream.hpp"

#include <memory>
#include <string>

namespace berth::http {

/// A certificate or key: the name of a PEM file, or PEM text. One of them, or neither.
struct pem {
  std::string file = {};
  std::string text = {};

  bool empty() const noexcept { return file.empty() && text.empty(); }
};

struct tls_options {
  /// Off: whoever answers is believed. Only for a daemon that is asked for so (DOCKER_TLS_VERIFY empty).
  bool verify = true;
  /// Authorities to trust. Default: those of the system (SSL_CERT_FILE and SSL_CERT_DIR count).
  pem authorities = {};
  /// What this side shows: a certificate, with its chain behind it, and its key, without a passphrase. Default: nothing.
  pem certificate = {};
  pem key = {};
  /// The name to ask for and to check instead of the host.
  std::string server_name = {};
};

/// Options that were read and found good, for any number of connections.
class tls_context {
 public:
  /// Reads the files at once, blocking: a later change of them is not seen.
  /// Errors: http_error in phase tls that names the file: not readable, no PEM, key and certificate that do not fit.
  explicit tls_context(const tls_options& options);
  tls_context(tls_context&&) = delete;
  ~tls_context();

 private:
  friend class tls_connector;
  struct state;
  std::unique_ptr<state> state_;
};

/// Shakes hands as a client: TLS 1.2 or later, the host as SNI and checked against the certificate, ALPN http/1.1.
///
/// Errors: http_error in phase tls. Where a certificate fails, the message says which check, for which host, and what would help;
///         `remote()` describes the certificate. A server that speaks no TLS, and one that wants a certificate, are told too. A refusal
///         that comes after the handshake, as TLS 1.3 has it for client certificates, is thrown by the first read or write.
task<stream_ptr> start_tls(stream_ptr lower, std::shared_ptr<const tls_context> context, std::string host);

}  // namespace berth::http
