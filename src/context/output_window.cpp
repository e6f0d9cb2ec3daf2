#include "context/output_window.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace berth {

namespace {

std::size_t part_of(std::size_t limit, double part) {
  if (part >= 1) return limit;  // as a double a limit without bounds would not fit back
  return std::min(limit, static_cast<std::size_t>(static_cast<double>(limit) * part));
}

}  // namespace

output_window::output_window(std::size_t limit, double head_part)
    : head_limit_(part_of(limit, head_part)), tail_limit_(limit - head_limit_) {}

void output_window::append(std::string_view bytes) {
  seen_ += bytes.size();
  const auto first = std::min(bytes.size(), head_limit_ - head_.size());
  head_.append(bytes.substr(0, first));
  append_tail(bytes.substr(first));
}

void output_window::append_tail(std::string_view bytes) {
  if (bytes.size() > tail_limit_) bytes.remove_prefix(bytes.size() - tail_limit_);
  const auto grows = std::min(bytes.size(), tail_limit_ - tail_.size());
  tail_.append(bytes.substr(0, grows));
  bytes.remove_prefix(grows);
  if (bytes.empty()) return;
  const auto to_the_end = std::min(bytes.size(), tail_.size() - oldest_);
  std::memcpy(tail_.data() + oldest_, bytes.data(), to_the_end);
  std::memcpy(tail_.data(), bytes.data() + to_the_end, bytes.size() - to_the_end);
  oldest_ = (oldest_ + bytes.size()) % tail_.size();
}

stream_totals output_window::totals() const noexcept {
  const std::uint64_t kept = head_.size() + tail_.size();
  return {seen_, kept, seen_ == kept ? kept : head_.size()};
}

std::string output_window::take() {
  std::string joined = std::exchange(head_, {});
  joined.append(tail_, oldest_);
  joined.append(tail_, 0, oldest_);
  tail_ = {};
  oldest_ = 0;
  seen_ = 0;
  return joined;
}

std::string window_text(std::string_view kept, const stream_totals& totals) {
  if (!totals.truncated()) return to_text(kept);
  const std::string_view hint = kept.substr(std::min<std::size_t>(totals.kept(), kept.size()));
  kept.remove_suffix(hint.size());
  const auto gap = std::min<std::size_t>(totals.head(), kept.size());
  auto head = kept.substr(0, gap);
  auto tail = kept.substr(gap);
  // A character that the gap cut: its beginning in the head is unfinished, its rest in the tail are loose continuation bytes.
  utf8_stream cut;
  const auto whole = cut.feed(head).size();
  head = head.substr(0, whole);
  std::size_t loose = 0;
  while (loose < 3 && loose < tail.size() && (static_cast<unsigned char>(tail[loose]) & 0xC0) == 0x80) ++loose;
  tail.remove_prefix(loose);
  std::string text = to_text(head);
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += "[... " + std::to_string(totals.seen() - head.size() - tail.size()) + " bytes left out ...]\n";
  return text + to_text(tail) + to_text(hint);
}

std::string exec_result::out_text() const { return window_text(std_out, out); }
std::string exec_result::err_text() const { return window_text(std_err, err); }

}  // namespace berth
