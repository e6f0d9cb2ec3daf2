#include "docker/sha256.hpp"

#include <openssl/sha.h>

namespace berth {

std::string sha256_hex(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  unsigned char hash[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size(), hash);
  std::string text;
  for (const unsigned char each : hash) {
    text += digits[each >> 4U];
    text += digits[each & 15U];
  }
  return text;
}

}  // namespace berth
