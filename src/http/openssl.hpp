#pragma once
/// What the files about TLS share of OpenSSL. Included by them alone.

#include "http/http_error.hpp"

#include <openssl/bio.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <memory>
#include <string>

namespace berth::http {

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* what) const noexcept {
    Free(what);
  }
};

using ssl_ptr = std::unique_ptr<SSL, freed_by<&SSL_free>>;
using ssl_context_ptr = std::unique_ptr<SSL_CTX, freed_by<&SSL_CTX_free>>;
using certificate_ptr = std::unique_ptr<X509, freed_by<&X509_free>>;
using key_ptr = std::unique_ptr<EVP_PKEY, freed_by<&EVP_PKEY_free>>;
inline void free_bio(BIO* bio) noexcept { BIO_free(bio); }
using bio_ptr = std::unique_ptr<BIO, freed_by<&free_bio>>;

/// The reason that OpenSSL gives for its last failure; empties its queue.
std::string openssl_reason();

/// Why the handshake with a host failed, or what came later, out of the connection and OpenSSL's queue of errors.
http_error tls_failure(SSL* ssl, const std::string& host, bool in_handshake);

}  // namespace berth::http
