#pragma once
/// Certificates made for a test.

#include <string>
#include <vector>

namespace berth::test {

/// PEM texts.
struct identity {
  std::string certificate;
  std::string key;
};

struct certificate_wish {
  std::string subject = {};
  /// "DNS:a.test" and "IP:127.0.0.1".
  std::vector<std::string> names = {};
  /// Seconds from now.
  long valid_from = -3600;
  long valid_to = 3600;
  bool authority = false;
};

/// Signed by the issuer, or by itself if there is none.
identity make_certificate(const certificate_wish& wish, const identity* issuer = nullptr);

}  // namespace berth::test
