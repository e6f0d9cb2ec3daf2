#include "docker/json_stream.hpp"

#include "berth/error.hpp"

namespace berth {
namespace {

// 0x1e begins a document of a JSON text sequence.
constexpr std::string_view between = " \t\r\n\x1e";

}  // namespace

bool json_stream::unfinished() const noexcept { return bytes_.find_first_not_of(between, begin_) != bytes_.npos; }

std::optional<json> json_stream::next() {
  if (depth_ == 0) {
    begin_ = std::min(bytes_.find_first_not_of(between, begin_), bytes_.size());
    at_ = begin_;
    if (begin_ < bytes_.size() && bytes_[begin_] != '{')
      throw error(make_error_code(errc::protocol), "a stream of JSON: an object was expected");
  }
  for (; at_ < bytes_.size(); ++at_) {
    const char c = bytes_[at_];
    if (in_text_) {
      if (!escaped_ && c == '"') in_text_ = false;
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_text_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      json found = json::parse(std::string_view(bytes_).substr(begin_, at_ + 1 - begin_));
      bytes_.erase(0, at_ + 1);
      begin_ = at_ = 0;
      return found;
    }
  }
  if (at_ - begin_ > most_)
    throw error(make_error_code(errc::limit_exceeded), "a stream of JSON: a document is too long");
  return std::nullopt;
}

}  // namespace berth
