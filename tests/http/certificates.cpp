#include "http/certificates.hpp"

#include "http/openssl.hpp"

#include <doctest/doctest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace berth::test {
namespace {

using namespace http;

std::string text_of(const bio_ptr& bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<std::size_t>(size));
}

bio_ptr bio_over(const std::string& text) {
  return bio_ptr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

void add_extension(X509* to, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str());
  REQUIRE(extension != nullptr);
  X509_add_ext(to, extension, -1);
  X509_EXTENSION_free(extension);
}

void name_it(X509* certificate, const certificate_wish& wish) {
  static long serial = 1000;
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), ++serial);
  X509_NAME* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>(wish.subject.c_str()),
                             -1, -1, 0);
  X509_gmtime_adj(X509_getm_notBefore(certificate), wish.valid_from);
  X509_gmtime_adj(X509_getm_notAfter(certificate), wish.valid_to);
}

}  // namespace

identity make_certificate(const certificate_wish& wish, const identity* issuer) {
  const key_ptr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
  const certificate_ptr made(X509_new());
  name_it(made.get(), wish);
  X509_set_pubkey(made.get(), key.get());
  certificate_ptr signer;
  key_ptr signing_key;
  if (issuer != nullptr) {
    signer.reset(PEM_read_bio_X509(bio_over(issuer->certificate).get(), nullptr, nullptr, nullptr));
    signing_key.reset(PEM_read_bio_PrivateKey(bio_over(issuer->key).get(), nullptr, nullptr, nullptr));
  }
  X509* by = signer ? signer.get() : made.get();
  X509_set_issuer_name(made.get(), X509_get_subject_name(by));
  add_extension(made.get(), by, NID_basic_constraints, wish.authority ? "critical,CA:TRUE" : "CA:FALSE");
  std::string names;
  for (const auto& each : wish.names) names += (names.empty() ? "" : ",") + each;
  if (!names.empty()) add_extension(made.get(), by, NID_subject_alt_name, names);
  REQUIRE(X509_sign(made.get(), signing_key ? signing_key.get() : key.get(), EVP_sha256()) > 0);
  const bio_ptr certificate_text(BIO_new(BIO_s_mem()));
  const bio_ptr key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_text.get(), made.get());
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return {text_of(certificate_text), text_of(key_text)};
}

}  // namespace berth::test
