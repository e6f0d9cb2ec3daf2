#include "berth/files.hpp"

#include "berth/error.hpp"

#include <utility>

namespace berth {
namespace {

class one_piece final : public byte_source {
 public:
  explicit one_piece(std::string bytes) : bytes_(std::move(bytes)) {}
  task<std::string> next() override { return give(std::exchange(bytes_, {})); }

 private:
  static task<std::string> give(std::string bytes) { co_return bytes; }

  std::string bytes_;
};

}  // namespace

std::string_view to_string(file_type type) noexcept {
  switch (type) {
    case file_type::regular:
      return "file";
    case file_type::directory:
      return "directory";
    case file_type::symlink:
      return "link";
    case file_type::other:
      break;
  }
  return "other";
}

std::string_view to_string(watch_kind kind) noexcept {
  switch (kind) {
    case watch_kind::created:
      return "created";
    case watch_kind::modified:
      return "modified";
    case watch_kind::removed:
      return "removed";
    case watch_kind::overflow:
      break;
  }
  return "overflow";
}

std::string_view file_info::name() const noexcept {
  const std::string_view path = path_;
  return path.substr(path.rfind('/') + 1);
}

std::unique_ptr<byte_source> make_byte_source(std::string bytes) {
  return std::make_unique<one_piece>(std::move(bytes));
}

void write_options::validate() const {
  constexpr unsigned all_bits = 0777;
  if (mode_ && *mode_ > all_bits)
    throw error(make_error_code(errc::invalid_argument), "mode: more than permission bits");
  if (expected_hash_ && expect_absent_)
    throw error(make_error_code(errc::invalid_argument), "expect_hash and expect_absent exclude one another");
  if (expected_hash_ && !expected_hash_->starts_with("xxh3:"))
    throw error(make_error_code(errc::invalid_argument), "expect_hash: not a content_hash");
}

}  // namespace berth
