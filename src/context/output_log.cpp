#include <berth/output_log.hpp>

#include <algorithm>
#include <cstring>

namespace berth {
namespace {

constexpr std::size_t smallest = 512;

}  // namespace

void output_log::grow(std::size_t wanted) {
  if (wanted <= ring_.size()) return;
  const std::size_t capacity = std::min(limit_, std::max({smallest, wanted, ring_.size() * 2}));
  std::string larger;
  larger.reserve(capacity);
  const std::size_t until_end = std::min(size_, ring_.size() - first_);
  larger.append(ring_, first_, until_end);
  larger.append(ring_, 0, size_ - until_end);
  larger.resize(capacity);
  ring_ = std::move(larger);
  first_ = 0;
}

void output_log::append(std::string_view bytes) {
  total_ += bytes.size();
  if (bytes.size() > limit_) bytes.remove_prefix(bytes.size() - limit_);
  if (bytes.empty()) return;
  grow(std::min(limit_, size_ + bytes.size()));
  const std::size_t capacity = ring_.size();
  const std::size_t dropped = size_ + bytes.size() > capacity ? size_ + bytes.size() - capacity : 0;
  first_ = (first_ + dropped) % capacity;
  size_ -= dropped;
  const std::size_t at = (first_ + size_) % capacity;
  const std::size_t part = std::min(bytes.size(), capacity - at);
  std::memcpy(ring_.data() + at, bytes.data(), part);
  std::memcpy(ring_.data(), bytes.data() + part, bytes.size() - part);
  size_ += bytes.size();
}

log_piece output_log::read(std::uint64_t offset, std::size_t max) const {
  const std::uint64_t from = std::clamp(offset, begin(), total_);
  const std::uint64_t gap = from > offset ? from - offset : 0;
  const std::size_t skipped = static_cast<std::size_t>(from - begin());
  const std::size_t count = std::min(max, size_ - skipped);
  std::string bytes;
  if (count > 0) {
    const std::size_t at = (first_ + skipped) % ring_.size();
    const std::size_t part = std::min(count, ring_.size() - at);
    bytes.reserve(count);
    bytes.append(ring_, at, part);
    bytes.append(ring_, 0, count - part);
  }
  const bool ended = ended_ && from + count == total_;
  return {std::move(bytes), from, gap, ended};
}

log_piece output_log::tail(std::size_t max) const { return read(total_ - std::min(size_, max), max); }

}  // namespace berth
