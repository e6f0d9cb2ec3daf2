#pragma once
// JSON documents as values.

#include "berth/error.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace berth {

class json;

using json_array = std::vector<json>;

/// Members in the order they were written. Parsed documents may hold a name twice; `find` gives the last one.
class json_object {
 public:
  using member = std::pair<std::string, json>;

  json_object();
  /// Name such an object before awaiting a call that takes it: g++ 12 does not compile the list there.
  json_object(std::initializer_list<member> members);

  const json* find(std::string_view name) const noexcept;
  json* find(std::string_view name) noexcept;

  /// Replaces the member, or adds it at the end.
  json_object& set(std::string_view name, json value);

  /// Adds without looking for the name.
  void append(std::string name, json value);

  std::size_t size() const noexcept;
  bool empty() const noexcept { return size() == 0; }

  using const_iterator = std::vector<member>::const_iterator;
  const_iterator begin() const noexcept;
  const_iterator end() const noexcept;

  friend bool operator==(const json_object& left, const json_object& right);

 private:
  std::vector<member> members_;
};

/// Bounds on documents from outside.
struct json_limits {
  std::size_t size = 64U << 20U;
  std::size_t depth = 128;
};

/// One JSON value. Integers beyond 64 bits signed are kept as double.
class json {
 public:
  using value = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, json_array, json_object>;

  json(std::nullptr_t = nullptr) {}
  json(bool truth) : value_(truth) {}
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) json(Number number) {
    if (std::in_range<std::int64_t>(number))
      value_ = static_cast<std::int64_t>(number);
    else
      value_ = static_cast<double>(number);
  }
  json(double number) : value_(number) {}
  json(const char* text) : value_(std::string(text)) {}
  json(std::string_view text) : value_(std::string(text)) {}
  json(std::string text) : value_(std::move(text)) {}
  json(json_array items) : value_(std::move(items)) {}
  json(json_object members) : value_(std::move(members)) {}
  template <class Pointer>
  json(const Pointer*) = delete;  // would become a bool

  /// Reads one document. Throws limit_exceeded, or protocol with the reason.
  static json parse(std::string_view text, json_limits limits = json_limits());

  /// Compact. What is not UTF-8 in strings becomes U+FFFD; what is not a finite number becomes null.
  std::string dump() const;

  bool is_null() const noexcept { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_object() const noexcept { return std::holds_alternative<json_object>(value_); }
  bool is_array() const noexcept { return std::holds_alternative<json_array>(value_); }
  bool is_string() const noexcept { return std::holds_alternative<std::string>(value_); }

  /// The value if it has this type, else nothing. An integral double counts as an integer, and any number as a double.
  std::optional<bool> if_bool() const noexcept;
  std::optional<std::int64_t> if_int() const noexcept;
  std::optional<double> if_double() const noexcept;
  const std::string* if_string() const noexcept { return std::get_if<std::string>(&value_); }
  const json_array* if_array() const noexcept { return std::get_if<json_array>(&value_); }
  const json_object* if_object() const noexcept { return std::get_if<json_object>(&value_); }

  /// The string, or an empty one: for what another program may have left out.
  std::string text() const { return is_string() ? *if_string() : std::string(); }

  /// The value, or errc::protocol naming what was expected.
  bool as_bool() const;
  std::int64_t as_int() const;
  double as_double() const;
  const std::string& as_string() const;
  const json_array& as_array() const;
  json_array& as_array();
  const json_object& as_object() const;
  json_object& as_object();

  /// The member of an object; null if this is no object or has none of that name.
  const json& operator[](std::string_view name) const noexcept;

  /// The member of an object, or errc::protocol naming it.
  const json& at(std::string_view name) const;

  const value& get() const noexcept { return value_; }

  friend bool operator==(const json&, const json&) = default;

 private:
  value value_;
};

inline json_object::json_object() = default;
inline std::size_t json_object::size() const noexcept { return members_.size(); }
inline json_object::const_iterator json_object::begin() const noexcept { return members_.begin(); }
inline json_object::const_iterator json_object::end() const noexcept { return members_.end(); }

}  // namespace berth
