#pragma once
/// Tar streams made by hand.

#include <cstdio>
#include <cstring>
#include <string>

namespace berth::test {

/// One ustar entry, as small as it gets.
inline std::string tar_entry_of(char type, const std::string& name, const std::string& content = "",
                                const std::string& link = "", const std::string& mode = "0000644") {
  std::string head(512, '\0');
  const auto put = [&head](std::size_t at, const std::string& text) { head.replace(at, text.size(), text); };
  char size[12];
  std::snprintf(size, sizeof size, "%011zo", content.size());
  put(0, name);
  put(100, mode);
  put(108, "0000000");
  put(116, "0000000");
  put(124, size);
  put(136, "00000000017");
  put(148, "        ");
  put(156, std::string(1, type));
  put(157, link);
  put(257, std::string("ustar\0"
                       "00",
                       8));
  unsigned sum = 0;
  for (const char byte : head) sum += static_cast<unsigned char>(byte);
  char digits[8];
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, std::string(digits, 7));
  std::string all = head + content;
  all.resize((all.size() + 511) / 512 * 512, '\0');
  return all;
}

inline std::string finished_tar(std::string entries) { return entries + std::string(1024, '\0'); }

}  // namespace berth::test
