#include "docker/container_user.hpp"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

namespace berth {
namespace {

constexpr std::size_t block = 512;
constexpr std::size_t user_at = 108;
constexpr std::size_t group_at = 116;
constexpr std::size_t size_at = 124;
constexpr std::size_t sum_at = 148;
constexpr std::size_t id_size = 8;
constexpr std::size_t size_size = 12;
constexpr unsigned base_256 = 0x80;

/// In octal digits, or where these are too few in binary.
void put_id(std::string& header, std::size_t at, std::int64_t number) {
  constexpr std::int64_t most_octal = 0777777;
  char field[id_size + 1] = {};
  if (number <= most_octal) {
    std::snprintf(field, sizeof field, "%06llo ", static_cast<unsigned long long>(number));
  } else {
    for (std::size_t i = id_size; i-- > 1; number >>= 8) field[i] = static_cast<char>(number & 0xFF);
    field[0] = static_cast<char>(base_256);
  }
  header.replace(at, id_size, field, id_size);
}

std::uint64_t size_in(const std::string& header) {
  std::uint64_t size = 0;
  const bool is_binary = (static_cast<unsigned char>(header[size_at]) & base_256) != 0;
  for (std::size_t i = is_binary ? 1 : 0; i < size_size; ++i) {
    const auto sign = static_cast<unsigned char>(header[size_at + i]);
    if (is_binary) {
      size = size << 8U | sign;
    } else if (sign >= '0' && sign <= '7') {
      size = size << 3U | static_cast<unsigned>(sign - '0');
    }
  }
  return size;
}

void put_sum(std::string& header) {
  header.replace(sum_at, id_size, id_size, ' ');
  unsigned sum = 0;
  for (const char each : header) sum += static_cast<unsigned char>(each);
  char field[id_size] = {};
  std::snprintf(field, sizeof field, "%06o", sum);
  header.replace(sum_at, id_size - 1, field, id_size - 1);
}

class owned_tar final : public byte_source {
 public:
  owned_tar(std::unique_ptr<byte_source> tar, container_user owner)
      : state_(std::make_shared<state>(state{std::move(tar), owner, {}, 0})) {}
  task<std::string> next() override { return next_of(state_); }

 private:
  struct state {
    std::unique_ptr<byte_source> tar;
    container_user owner;
    std::string header;     ///< as far as it has come
    std::uint64_t content;  ///< of the entry, still to come

    void change(std::string_view piece, std::string& to) {
      while (!piece.empty()) {
        const std::size_t wanted = content > 0
                                       ? static_cast<std::size_t>(std::min<std::uint64_t>(content, piece.size()))
                                       : std::min(block - header.size(), piece.size());
        std::string& into = content > 0 ? to : header;
        into.append(piece.substr(0, wanted));
        piece.remove_prefix(wanted);
        if (&into == &to) content -= wanted;
        if (header.size() == block) finish_header(to);
      }
    }

    void finish_header(std::string& to) {
      if (header.find_first_not_of('\0') != header.npos) {  // two empty ones are the end
        put_id(header, user_at, owner.user);
        put_id(header, group_at, owner.group);
        put_sum(header);
        content = (size_in(header) + block - 1) / block * block;
      }
      to += std::exchange(header, {});
    }
  };

  static task<std::string> next_of(std::shared_ptr<state> self) {
    std::string changed;
    while (changed.empty()) {
      const std::string piece = co_await self->tar->next();
      if (piece.empty()) co_return std::exchange(self->header, {});
      self->change(piece, changed);
    }
    co_return changed;
  }

  std::shared_ptr<state> state_;
};

}  // namespace

std::unique_ptr<byte_source> tar_owned_by(std::unique_ptr<byte_source> tar, container_user owner) {
  return std::make_unique<owned_tar>(std::move(tar), owner);
}

}  // namespace berth
