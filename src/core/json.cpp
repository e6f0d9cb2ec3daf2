#include "core/json.hpp"

#include <algorithm>
#include <cmath>

namespace berth {
namespace {

[[noreturn]] void expected(const char* what) { throw error(errc::protocol, std::string("json: expected ") + what); }

template <class T>
T& required(T* found, const char* what) {
  if (found == nullptr) expected(what);
  return *found;
}

template <class T>
T required(std::optional<T> found, const char* what) {
  if (!found) expected(what);
  return *found;
}

}  // namespace

json_object::json_object(std::initializer_list<member> members) {
  members_.reserve(members.size());
  for (const auto& [name, value] : members) set(name, value);
}

const json* json_object::find(std::string_view name) const noexcept {
  const auto found =
      std::find_if(members_.rbegin(), members_.rend(), [&](const member& each) { return each.first == name; });
  return found == members_.rend() ? nullptr : &found->second;
}

json* json_object::find(std::string_view name) noexcept { return const_cast<json*>(std::as_const(*this).find(name)); }

json_object& json_object::set(std::string_view name, json value) {
  if (auto* present = find(name))
    *present = std::move(value);
  else
    append(std::string(name), std::move(value));
  return *this;
}

void json_object::append(std::string name, json value) { members_.emplace_back(std::move(name), std::move(value)); }

bool operator==(const json_object& left, const json_object& right) { return left.members_ == right.members_; }

std::optional<bool> json::if_bool() const noexcept {
  const auto* truth = std::get_if<bool>(&value_);
  return truth == nullptr ? std::nullopt : std::optional(*truth);
}

std::optional<std::int64_t> json::if_int() const noexcept {
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return *number;
  const auto* number = std::get_if<double>(&value_);
  constexpr double bound = 9223372036854775808.0;  // 2^63, exactly
  if (number == nullptr || *number < -bound || *number >= bound || std::trunc(*number) != *number) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

std::optional<double> json::if_double() const noexcept {
  if (const auto* number = std::get_if<double>(&value_)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*number);
  return std::nullopt;
}

bool json::as_bool() const { return required(if_bool(), "true or false"); }
std::int64_t json::as_int() const { return required(if_int(), "an integer"); }
double json::as_double() const { return required(if_double(), "a number"); }
const std::string& json::as_string() const { return required(if_string(), "a string"); }
const json_array& json::as_array() const { return required(if_array(), "an array"); }
json_array& json::as_array() { return required(std::get_if<json_array>(&value_), "an array"); }
const json_object& json::as_object() const { return required(if_object(), "an object"); }
json_object& json::as_object() { return required(std::get_if<json_object>(&value_), "an object"); }

const json& json::operator[](std::string_view name) const noexcept {
  static const json null;
  const auto* object = if_object();
  const auto* found = object == nullptr ? nullptr : object->find(name);
  return found == nullptr ? null : *found;
}

const json& json::at(std::string_view name) const {
  const auto* found = as_object().find(name);
  if (found == nullptr) throw error(errc::protocol, "json: no member \"" + std::string(name) + '"');
  return *found;
}

}  // namespace berth
