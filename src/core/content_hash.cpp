#include "berth/files.hpp"

#include <xxhash.h>

#include <new>

namespace berth {
namespace {

std::string named(XXH128_hash_t hash) {
  constexpr const char* digits = "0123456789abcdef";
  constexpr unsigned top_digit = 60, four_bits = 4;
  std::string text = "xxh3:";
  for (const auto half : {hash.high64, hash.low64}) {
    for (unsigned shift = top_digit + four_bits; shift > 0; shift -= four_bits)
      text += digits[(half >> (shift - four_bits)) & 15U];
  }
  return text;
}

}  // namespace

struct content_hasher::state {
  state() : of(XXH3_createState()) {
    if (of == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(of);
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;
  ~state() { XXH3_freeState(of); }

  XXH3_state_t* of;
};

std::string content_hash(std::string_view bytes) { return named(XXH3_128bits(bytes.data(), bytes.size())); }

content_hasher::content_hasher() : state_(std::make_unique<state>()) {}
content_hasher::content_hasher(content_hasher&&) noexcept = default;
content_hasher& content_hasher::operator=(content_hasher&&) noexcept = default;
content_hasher::~content_hasher() = default;

void content_hasher::update(std::string_view bytes) { XXH3_128bits_update(state_->of, bytes.data(), bytes.size()); }

std::string content_hasher::finish() const { return named(XXH3_128bits_digest(state_->of)); }

}  // namespace berth
