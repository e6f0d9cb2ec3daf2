#include "http/headers.hpp"

#include "berth/error.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace berth::http {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool is_token_sign(char c) noexcept {
  if ((c >= '0' && c <= '9') || (lower(c) >= 'a' && lower(c) <= 'z')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_value(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '\t' || (byte >= 0x20 && byte != 0x7f);
  });
}

// The name may be shown, the value never: it may be a secret.
void check(std::string_view name, std::string_view value) {
  if (!is_token(name)) throw error(errc::invalid_argument, "header: a name that cannot be");
  if (!is_value(value))
    throw error(errc::invalid_argument, "header " + std::string(name) + ": control characters in its value");
}

}  // namespace

bool same_text(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_sign);
}

headers& headers::add(std::string_view name, std::string_view value) {
  value = trimmed(value);
  check(name, value);
  append(std::string(name), std::string(value));
  return *this;
}

headers& headers::set(std::string_view name, std::string_view value) {
  value = trimmed(value);
  check(name, value);
  const auto named = [&](const header_field& each) { return same_text(each.name, name); };
  const auto first = std::find_if(fields_.begin(), fields_.end(), named);
  if (first == fields_.end()) return add(name, value);
  first->value = value;
  fields_.erase(std::remove_if(first + 1, fields_.end(), named), fields_.end());
  return *this;
}

void headers::append(std::string name, std::string value) {
  fields_.push_back(header_field{std::move(name), std::move(value)});
}

std::optional<std::string_view> headers::find(std::string_view name) const noexcept {
  for (const auto& each : fields_) {
    if (same_text(each.name, name)) return each.value;
  }
  return std::nullopt;
}

std::size_t headers::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(
      std::count_if(begin(), end(), [&](const header_field& each) { return same_text(each.name, name); }));
}

}  // namespace berth::http
