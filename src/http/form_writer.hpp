#pragma once
/// multipart/form-data as the body of a request.

#include "berth/files.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth::http {

/// One part of a form on its way out.
class form_part {
 public:
  /// A plain field.
  form_part(std::string name, std::string value) : name_(std::move(name)), bytes_(std::move(value)) {}
  /// A stream; its size in bytes, where it is known, saves the chunked form of the request.
  form_part(std::string name, std::unique_ptr<byte_source> source, std::optional<std::uint64_t> size = {})
      : name_(std::move(name)), source_(std::move(source)), size_(size) {}

  form_part filename(std::string name) && {
    filename_ = std::move(name);
    return std::move(*this);
  }
  form_part content_type(std::string type) && {
    content_type_ = std::move(type);
    return std::move(*this);
  }

 private:
  friend class form_writer;
  std::string name_;
  std::optional<std::string> filename_;
  std::optional<std::string> content_type_;
  std::string bytes_;
  std::unique_ptr<byte_source> source_;
  std::optional<std::uint64_t> size_;
};

/// A form as a stream, to be the body of a request.
///
/// Errors: invalid_argument for control characters in a content type (in names they are percent-encoded, as browsers do), protocol
///         for a source that gives more or less than its size; what a source throws.
class form_writer final : public byte_source {
 public:
  /// The boundary is random: 144 bits.
  explicit form_writer(std::vector<form_part> parts);
  /// With a given boundary, for tests. Errors: invalid_argument unless it has 1 to 70 letters, digits, '-' and '_'.
  form_writer(std::vector<form_part> parts, std::string boundary);
  ~form_writer() override;

  /// For the field Content-Type.
  std::string content_type() const;
  /// Of the whole body; nullopt if a part's is not known.
  std::optional<std::uint64_t> size() const;

  task<std::string> next() override;

 private:
  struct state;
  static task<std::string> next_of(std::shared_ptr<state> self);

  std::shared_ptr<state> state_;
};

}  // namespace berth::http
