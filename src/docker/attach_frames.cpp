#include "docker/attach_frames.hpp"

#include "berth/error.hpp"

#include <algorithm>

namespace berth {

void attach_frames::read_header() {
  const bool is_header =
      header_[0] <= static_cast<unsigned char>(stream::system_error) && (header_[1] | header_[2] | header_[3]) == 0;
  if (!is_header) throw error(make_error_code(errc::protocol), "docker: the stream of a command is not framed");
  from_ = static_cast<stream>(header_[0]);
  for (std::size_t i = 4; i < header_size; ++i) left_ = left_ << 8U | header_[i];
  have_ = 0;
}

std::optional<attach_frames::piece> attach_frames::next(std::string_view& bytes) {
  while (!bytes.empty()) {
    if (left_ > 0) {
      const auto size = std::min(left_, bytes.size());
      const piece found{from_, bytes.substr(0, size)};
      bytes.remove_prefix(size);
      left_ -= size;
      return found;
    }
    header_[have_++] = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    if (have_ == header_size) read_header();
  }
  return std::nullopt;
}

}  // namespace berth
