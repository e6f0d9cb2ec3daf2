#include "context/resident_lease.hpp"

#include "core/syscall.hpp"

#include <sys/random.h>

namespace berth {
namespace {

constexpr std::uint64_t ack_every = 64u << 10;
// A welcome ends with the token; see wire::welcome.
constexpr std::size_t token_in_welcome = wire::header_size + 26;

}  // namespace

resident_token make_resident_token() {
  resident_token token;
  check_syscall(::getrandom(token.data(), token.size(), 0), "getrandom");
  return token;
}

std::uint64_t resident_lease::connect() noexcept {
  told_ = received_;
  return told_;
}

std::string_view resident_lease::look_for_token(std::string_view bytes, bool at_welcome, bool& found) const noexcept {
  const std::string_view token(token_.data(), token_.size());
  std::size_t begin = 0;
  found = false;
  for (auto at = bytes.find(token); at != bytes.npos; at = bytes.find(token, at + 1)) {
    const bool inside = (found || at_welcome) && at == begin + token_in_welcome;
    if (inside) continue;
    begin = at + token.size();
    found = true;
  }
  return bytes.substr(begin);
}

void resident_lease::sent(std::string frame) {
  sent_ += frame.size();
  kept_.push_back(std::move(frame));
}

bool resident_lease::acknowledged(std::uint64_t bytes) noexcept {
  if (bytes > sent_) return false;
  while (!kept_.empty() && kept_from_ + kept_.front().size() <= bytes) {
    kept_from_ += kept_.front().size();
    kept_.pop_front();
  }
  return true;
}

std::vector<std::string> resident_lease::unacknowledged() const { return {kept_.begin(), kept_.end()}; }

bool resident_lease::received(std::size_t bytes) noexcept {
  position_ += bytes;
  if (position_ <= received_) return false;
  received_ = position_;
  return true;
}

bool resident_lease::acknowledgement_due() noexcept {
  if (received_ - acknowledged_ < ack_every) return false;
  acknowledged_ = received_;
  return true;
}

}  // namespace berth
