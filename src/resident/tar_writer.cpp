#include "resident/tar.hpp"

#include <stdio.h>

namespace berth::resident {
namespace {

constexpr std::size_t name_size = 100;
constexpr std::uint64_t largest_octal = (std::uint64_t{1} << 33) - 1;  // 11 digits

void put_octal(char* field, int digits, std::uint64_t value) {
  char text[24];
  snprintf(text, sizeof text, "%0*llo", digits, static_cast<unsigned long long>(value));
  std::memcpy(field, text, static_cast<std::size_t>(digits));
}

void put_block(buffer& to, char type, std::string_view path, std::string_view link, std::uint32_t mode,
               std::uint64_t size, std::uint64_t seconds) {
  char* const block = to.reserve(tar_block);
  std::memset(block, 0, tar_block);
  std::memcpy(block, path.data(), path.size() < name_size ? path.size() : name_size);
  put_octal(block + 100, 7, mode);
  put_octal(block + 108, 7, 0);
  put_octal(block + 116, 7, 0);
  put_octal(block + 124, 11, size <= largest_octal ? size : 0);
  put_octal(block + 136, 11, seconds);
  std::memset(block + 148, ' ', 8);
  block[156] = type;
  std::memcpy(block + 157, link.data(), link.size() < name_size ? link.size() : name_size);
  std::memcpy(block + 257, "ustar\00000", 8);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < tar_block; ++i) sum += static_cast<unsigned char>(block[i]);
  put_octal(block + 148, 6, sum);
  block[154] = '\0';
  to.commit(tar_block);
}

/// "LEN KEY=VALUE\n", where LEN counts itself.
void put_record(buffer& to, std::string_view key, std::string_view value) {
  const std::size_t rest = key.size() + value.size() + 3;
  char digits[24];
  std::size_t size = rest + 1;
  while (rest + static_cast<std::size_t>(snprintf(digits, sizeof digits, "%zu", size)) != size) ++size;
  to.append(digits, strlen(digits));
  to.append(" ", 1);
  to.append(key.data(), key.size());
  to.append("=", 1);
  to.append(value.data(), value.size());
  to.append("\n", 1);
}

void put_zeros(buffer& to, std::size_t size) {
  std::memset(to.reserve(size), 0, size);
  to.commit(size);
}

}  // namespace

void put_tar_header(buffer& to, const tar_entry& entry) {
  const std::string_view path = entry.path;
  const std::string_view link = entry.link;
  const bool fits_time = entry.seconds >= 0 && static_cast<std::uint64_t>(entry.seconds) <= largest_octal;
  const std::uint64_t seconds = fits_time ? static_cast<std::uint64_t>(entry.seconds) : 0;
  buffer records;
  char number[24];
  if (path.size() > name_size || link.size() > name_size) put_record(records, "hdrcharset", "BINARY");
  if (path.size() > name_size) put_record(records, "path", path);
  if (link.size() > name_size) put_record(records, "linkpath", link);
  if (entry.size > largest_octal) {
    snprintf(number, sizeof number, "%llu", static_cast<unsigned long long>(entry.size));
    put_record(records, "size", number);
  }
  if (!fits_time) {
    snprintf(number, sizeof number, "%lld", static_cast<long long>(entry.seconds));
    put_record(records, "mtime", number);
  }
  if (records.size() > 0) {
    put_block(to, 'x', "pax", "", 0644, records.size(), seconds);
    to.append(records.view().data(), records.size());
    put_zeros(to, tar_padding(records.size()));
  }
  put_block(to, entry.what, path, link, entry.mode, entry.size, seconds);
}

void put_tar_end(buffer& to) { put_zeros(to, 2 * tar_block); }

}  // namespace berth::resident
