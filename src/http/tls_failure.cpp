// What OpenSSL says, in words that help.
#include "core/text.hpp"
#include "http/openssl.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <fmt/format.h>

#include <arpa/inet.h>

#include <string_view>
#include <vector>

namespace berth::http {
namespace {

std::string text_of(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return size > 0 ? to_text(std::string_view(data, static_cast<std::size_t>(size))) : std::string();
}

std::string name_text(const X509_NAME* name) {
  const bio_ptr bio(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_ONELINE & ~ASN1_STRFLGS_ESC_MSB);
  return text_of(bio.get());
}

std::string time_text(const ASN1_TIME* time) {
  const bio_ptr bio(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(bio.get(), time);
  return text_of(bio.get());
}

std::string address_text(const ASN1_OCTET_STRING* address) {
  char text[INET6_ADDRSTRLEN] = "?";
  const auto* bytes = ASN1_STRING_get0_data(address);
  ::inet_ntop(ASN1_STRING_length(address) == 4 ? AF_INET : AF_INET6, bytes, text, sizeof text);
  return text;
}

void free_names(GENERAL_NAMES* names) noexcept { GENERAL_NAMES_free(names); }

std::string alternative_names(X509* certificate) {
  const std::unique_ptr<GENERAL_NAMES, freed_by<&free_names>> names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::string all;
  const int count = names ? sk_GENERAL_NAME_num(names.get()) : 0;
  for (int i = 0; i < count && i < 20; ++i) {
    const GENERAL_NAME* each = sk_GENERAL_NAME_value(names.get(), i);
    if (each->type != GEN_DNS && !(each->type == GEN_IPADD && ASN1_STRING_length(each->d.iPAddress) % 12 == 4))
      continue;
    if (!all.empty()) all += ", ";
    if (each->type == GEN_IPADD)
      all += address_text(each->d.iPAddress);
    else
      all.append(reinterpret_cast<const char*>(ASN1_STRING_get0_data(each->d.dNSName)),
                 static_cast<std::size_t>(ASN1_STRING_length(each->d.dNSName)));
  }
  return to_text(all);
}

std::string description(X509* certificate) {
  if (certificate == nullptr) return {};
  return fmt::format("certificate of {}; names: {}; issued by {}; valid from {} to {}",
                     name_text(X509_get_subject_name(certificate)), alternative_names(certificate),
                     name_text(X509_get_issuer_name(certificate)), time_text(X509_get0_notBefore(certificate)),
                     time_text(X509_get0_notAfter(certificate)));
}

std::string check_text(long result) {
  switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "it was made out for other names; connect by one of those, or set the server name";
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "it has expired; the server needs a new one, or the clock of this machine is wrong";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "it is not valid yet; is the clock of this machine wrong?";
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
      return "it is self-signed; give it as the authority (CA file) if it is to be trusted";
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
      return "it is signed by an authority that is not known here; give that authority's certificate (CA file), or "
             "install "
             "ca-certificates";
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "it is signed by another authority of the same name as one that is known here; give that one's "
             "certificate (CA file)";
    default:
      return X509_verify_cert_error_string(result);
  }
}

/// What an alert of the other side means; empty for those that say no more than their name.
std::string_view alert_text(int reason) {
  switch (reason - SSL_AD_REASON_OFFSET) {
    case SSL_AD_CERTIFICATE_REQUIRED:
      return "the server wants a client certificate; give certificate and key";
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_UNKNOWN_CA:
    case SSL_AD_ACCESS_DENIED:
      return "the server refuses the client certificate, or wants one";
    case SSL_AD_UNRECOGNIZED_NAME:
      return "the server does not know this name";
    case SSL_AD_HANDSHAKE_FAILURE:
    case SSL_AD_INSUFFICIENT_SECURITY:
      return "no common ciphers, or the server wants a client certificate";
    case SSL_AD_PROTOCOL_VERSION:
      return "the server has no version of TLS that is new enough";
    default:
      return {};
  }
}

std::string why(unsigned long code, std::error_code& kind) {
  const int reason = ERR_GET_REASON(code);
  if (reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST || reason == SSL_R_PACKET_LENGTH_TOO_LONG)
    return "the other side does not speak TLS; is it plain http?";
  const char* text = ERR_reason_error_string(code);
  const auto alert = ERR_GET_LIB(code) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET ? alert_text(reason) : "";
  if (alert.empty()) return text != nullptr ? text : "OpenSSL gives no reason";
  kind = errc::unauthorized;
  return fmt::format("{} ({})", alert, text != nullptr ? text : "alert");
}

}  // namespace

std::string openssl_reason() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "OpenSSL gives no reason";
}

http_error tls_failure(SSL* ssl, const std::string& host, bool in_handshake) {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  const long checked = SSL_get_verify_result(ssl);
  if (in_handshake && checked != X509_V_OK && SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE) {
    const auto* chain = SSL_get_peer_cert_chain(ssl);  // the certificate alone is kept once it is accepted
    X509* shown = chain != nullptr && sk_X509_num(chain) > 0 ? sk_X509_value(chain, 0) : nullptr;
    return {phase::tls, false, errc::protocol,
            fmt::format("TLS with {}: its certificate is refused: {}", host, check_text(checked)), description(shown)};
  }
  std::error_code kind = errc::protocol;
  const std::string reason = why(code, kind);
  // An alert behind the handshake refuses the client: nothing was acted on.
  const bool refused = kind == errc::unauthorized;
  return {phase::tls, !in_handshake && !refused, kind, fmt::format("TLS with {}: {}", host, reason)};
}

}  // namespace berth::http
