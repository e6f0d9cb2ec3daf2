#include "http/tls_context.hpp"

#include "http/url.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <fmt/format.h>

#include <cerrno>

namespace berth::http {
namespace {

std::string name_of(const pem& source, const char* what) {
  return source.file.empty() ? fmt::format("the {}", what) : fmt::format("the {} {}", what, source.file);
}

[[noreturn]] void fail(const pem& source, const char* what, const std::string& why, std::error_code code) {
  ERR_clear_error();
  throw http_error(phase::tls, false, code, fmt::format("TLS: {}: {}", name_of(source, what), why));
}

bio_ptr open(const pem& source, const char* what) {
  if (!source.file.empty() && !source.text.empty())
    throw error(errc::invalid_argument, fmt::format("TLS: {}: a file and text exclude one another", what));
  errno = 0;
  bio_ptr bio(source.file.empty() ? BIO_new_mem_buf(source.text.data(), static_cast<int>(source.text.size()))
                                  : BIO_new_file(source.file.c_str(), "re"));
  if (bio) return bio;
  const int code = errno;
  fail(source, what, "cannot be read",
       code != 0 ? std::error_code(code, std::system_category()) : make_error_code(errc::internal));
}

// No passphrase is ever asked for: OpenSSL would ask on the terminal.
int no_passphrase(char*, int, int, void*) { return -1; }

certificate_ptr next_certificate(BIO* from) {
  return certificate_ptr(PEM_read_bio_X509(from, nullptr, &no_passphrase, nullptr));
}

void trust(SSL_CTX* context, const pem& authorities) {
  if (authorities.empty()) {
    SSL_CTX_set_default_verify_paths(context);
    return;
  }
  const auto bio = open(authorities, "authorities");
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  bool any = false;
  while (const auto each = next_certificate(bio.get())) any = X509_STORE_add_cert(store, each.get()) == 1 || any;
  ERR_clear_error();
  if (!any) fail(authorities, "authorities", "no PEM certificate in it", errc::invalid_argument);
}

void show_certificate(SSL_CTX* context, const pem& source) {
  const auto bio = open(source, "certificate");
  const auto first = next_certificate(bio.get());
  if (!first || SSL_CTX_use_certificate(context, first.get()) != 1)
    fail(source, "certificate", "no PEM certificate in it that can be used", errc::invalid_argument);
  while (const auto each = next_certificate(bio.get())) SSL_CTX_add1_chain_cert(context, each.get());
  ERR_clear_error();
}

void use_key(SSL_CTX* context, const pem& source) {
  const auto bio = open(source, "key");
  const key_ptr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, &no_passphrase, nullptr));
  if (!key) fail(source, "key", "no PEM key in it, or one with a passphrase", errc::invalid_argument);
  if (SSL_CTX_use_PrivateKey(context, key.get()) != 1)
    fail(source, "key", "it does not fit the certificate", errc::invalid_argument);
}

constexpr unsigned char alpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

}  // namespace

tls_context::tls_context(const tls_options& options) : state_(std::make_unique<state>()) {
  if (options.certificate.empty() != options.key.empty())
    throw error(errc::invalid_argument, "TLS: a client certificate and its key go together");
  state_->context.reset(SSL_CTX_new(TLS_client_method()));
  if (!state_->context) throw http_error(phase::tls, false, errc::resource_exhausted, "TLS: " + openssl_reason());
  SSL_CTX* context = state_->context.get();
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_alpn_protos(context, alpn, sizeof alpn);
  SSL_CTX_set_default_passwd_cb(context, &no_passphrase);
  state_->verify = options.verify;
  state_->server_name = options.server_name;
  if (options.verify) trust(context, options.authorities);
  SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  if (options.certificate.empty()) return;
  show_certificate(context, options.certificate);
  use_key(context, options.key);
}

tls_context::~tls_context() = default;

}  // namespace berth::http
