#pragma once
/// The fields of a message's head, in order, names compared without regard to case.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::http {

struct header_field {
  std::string name;
  std::string value;
};

/// Are they the same but for the case of ASCII letters?
bool same_text(std::string_view a, std::string_view b) noexcept;

/// Can it be a method or the name of a field?
bool is_token(std::string_view text) noexcept;

class headers {
 public:
  headers() = default;

  /// Appends a field. Spaces around the value go.
  /// Errors: invalid_argument for a name that is no token and a value with control characters: nobody can smuggle a second field in.
  headers& add(std::string_view name, std::string_view value);
  /// Replaces every field of that name by one.
  headers& set(std::string_view name, std::string_view value);
  /// Appends what a parser has checked.
  void append(std::string name, std::string value);

  /// The value of the first field of that name.
  std::optional<std::string_view> find(std::string_view name) const noexcept;
  bool has(std::string_view name) const noexcept { return find(name).has_value(); }
  std::size_t count(std::string_view name) const noexcept;

  bool empty() const noexcept { return fields_.empty(); }
  std::size_t size() const noexcept { return fields_.size(); }
  auto begin() const noexcept { return fields_.begin(); }
  auto end() const noexcept { return fields_.end(); }

 private:
  std::vector<header_field> fields_;
};

}  // namespace berth::http
