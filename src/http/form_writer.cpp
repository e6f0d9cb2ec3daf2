#include "http/form_writer.hpp"

#include "berth/error.hpp"

#include <fmt/format.h>

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace berth::http {
namespace {

std::string random_boundary() {
  std::array<unsigned char, 18> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    throw error(std::error_code(errno, std::system_category()), "form: no random bytes");
  std::string text = "berth-";
  for (const unsigned char each : bytes) text += fmt::format("{:02x}", each);
  return text;
}

// As browsers do it: the three signs that would end the name early.
std::string quoted_name(std::string_view name) {
  std::string all;
  for (const char c : name) {
    if (c == '"' || c == '\r' || c == '\n')
      all += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      all += c;
  }
  return '"' + all + '"';
}

void check_type(std::string_view type) {
  if (std::any_of(type.begin(), type.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }))
    throw error(errc::invalid_argument, "form: control characters in a content type");
}

void check_boundary(std::string_view boundary) {
  const auto fits = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  };
  if (boundary.empty() || boundary.size() > 70 || !std::all_of(boundary.begin(), boundary.end(), fits))
    throw error(errc::invalid_argument, "form: a boundary that cannot be");
}

}  // namespace

struct form_writer::state {
  std::string head_of(const form_part& part) const {
    std::string head =
        fmt::format("--{}\r\nContent-Disposition: form-data; name={}", boundary, quoted_name(part.name_));
    if (part.filename_) head += "; filename=" + quoted_name(*part.filename_);
    head += "\r\n";
    if (part.content_type_) head += fmt::format("Content-Type: {}\r\n", *part.content_type_);
    return head += "\r\n";
  }

  std::string tail() const { return fmt::format("--{}--\r\n", boundary); }

  /// A part with bytes as a whole; of one with a source its head.
  std::string begin_part() {
    const form_part& part = parts[at];
    std::string bytes = head_of(part);
    if (part.source_) {
      in_source = true;
      left = part.size_;
      return bytes;
    }
    ++at;
    return bytes += part.bytes_ + "\r\n";
  }

  std::vector<form_part> parts;
  std::string boundary;
  std::size_t at = 0;
  bool in_source = false;
  std::optional<std::uint64_t> left;
  bool ended = false;
};

form_writer::form_writer(std::vector<form_part> parts) : form_writer(std::move(parts), random_boundary()) {}

form_writer::form_writer(std::vector<form_part> parts, std::string boundary) : state_(std::make_shared<state>()) {
  check_boundary(boundary);
  for (const auto& each : parts) check_type(each.content_type_.value_or(""));
  state_->parts = std::move(parts);
  state_->boundary = std::move(boundary);
}

form_writer::~form_writer() = default;

std::string form_writer::content_type() const { return "multipart/form-data; boundary=" + state_->boundary; }

std::optional<std::uint64_t> form_writer::size() const {
  std::uint64_t sum = state_->tail().size();
  for (const auto& each : state_->parts) {
    if (each.source_ && !each.size_) return std::nullopt;
    sum += state_->head_of(each).size() + (each.source_ ? *each.size_ : each.bytes_.size()) + 2;
  }
  return sum;
}

task<std::string> form_writer::next() { return next_of(state_); }

task<std::string> form_writer::next_of(std::shared_ptr<state> self) {
  if (self->in_source) {
    std::string piece = co_await self->parts[self->at].source_->next();
    if (self->left && (piece.size() > *self->left || (piece.empty() && *self->left > 0)))
      throw error(errc::protocol, "form: a part is not of the size that was said");
    if (self->left) *self->left -= piece.size();
    if (!piece.empty()) co_return piece;
    self->in_source = false;
    ++self->at;
    co_return "\r\n";
  }
  if (self->at < self->parts.size()) co_return self->begin_part();
  if (self->ended) co_return std::string();
  self->ended = true;
  co_return self->tail();
}

}  // namespace berth::http
