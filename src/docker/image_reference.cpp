#include "docker/image_reference.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"

#include <algorithm>

namespace berth {
namespace {

constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_tag = 128;
constexpr std::string_view hash = "sha256:";
constexpr std::size_t hash_digits = 64;

bool is_lower(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_letter(char c) noexcept { return is_lower(c) || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) noexcept { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/// One part between slashes: lower-case words, joined by one dot, one or two underscores, or any number of dashes.
bool is_component(std::string_view text) noexcept {
  bool word = false;
  for (std::size_t at = 0; at < text.size();) {
    if (is_lower(text[at])) {
      word = true;
      ++at;
      continue;
    }
    const auto end = std::min(text.find_first_not_of(text[at], at), text.size());
    const auto count = end - at;
    const bool joins = text[at] == '-' || (text[at] == '.' && count == 1) || (text[at] == '_' && count <= 2);
    if (!word || !joins || end == text.size()) return false;
    word = false;
    at = end;
  }
  return word;
}

bool is_registry(std::string_view part) noexcept {
  return part == "localhost" || part.find_first_of(".:") != part.npos || part.starts_with('[');
}

/// A host name or an IPv6 address in brackets, and a port.
bool is_host(std::string_view text) noexcept {
  const auto colon = text.starts_with('[') ? text.find(':', std::min(text.find(']'), text.size())) : text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto fits = [](char c) { return is_letter(c) || c == '.' || c == '-' || c == '[' || c == ']' || c == ':'; };
  if (name.empty() || !std::all_of(name.begin(), name.end(), fits)) return false;
  if (colon == text.npos) return true;
  const std::string_view port = text.substr(colon + 1);
  return !port.empty() && std::all_of(port.begin(), port.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool is_tag(std::string_view text) noexcept {
  const auto fits = [](char c) { return is_letter(c) || c == '_' || c == '.' || c == '-'; };
  return !text.empty() && text.size() <= longest_tag && text[0] != '.' && text[0] != '-' &&
         std::all_of(text.begin(), text.end(), fits);
}

bool is_digest(std::string_view text) noexcept {
  if (!text.starts_with(hash)) return false;
  text.remove_prefix(hash.size());
  return text.size() == hash_digits && std::all_of(text.begin(), text.end(), is_hex);
}

bool is_repository(std::string_view text) noexcept {
  for (std::size_t at = 0; at <= text.size();) {
    const auto end = std::min(text.find('/', at), text.size());
    if (!is_component(text.substr(at, end - at))) return false;
    at = end + 1;
  }
  return !text.empty() && text.size() <= longest_name;
}

}  // namespace

image_reference parse_image_reference(std::string_view text) {
  const auto refuse = [text](const char* why) {
    throw error(make_error_code(errc::invalid_argument), "image " + shown_path(text) + ": " + why);
  };
  image_reference found;
  std::string_view rest = text;
  if (const auto at = rest.find('@'); at != rest.npos) {
    if (!is_digest(rest.substr(at + 1))) refuse("what follows the @ is no sha256 digest");
    found.digest = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  const auto slash = rest.rfind('/');
  if (const auto colon = rest.rfind(':'); colon != rest.npos && (slash == rest.npos || colon > slash)) {
    if (!is_tag(rest.substr(colon + 1))) refuse("the tag is not one (letters, digits, _ . -; at most 128)");
    found.tag = rest.substr(colon + 1);
    rest = rest.substr(0, colon);
  }
  if (found.tag.empty() && found.digest.empty()) found.tag = "latest";
  const auto first = rest.find('/');
  if (first != rest.npos && is_registry(rest.substr(0, first))) {
    if (!is_host(rest.substr(0, first))) refuse("the registry is no host name");
    found.registry = rest.substr(0, first);
    rest = rest.substr(first + 1);
  } else {
    found.registry = "docker.io";
  }
  if (!is_repository(rest)) refuse("the name is not one (lower-case letters, digits, and . _ - between them)");
  if (found.registry == "index.docker.io") found.registry = "docker.io";
  const bool is_official = found.registry == "docker.io" && rest.find('/') == rest.npos;
  found.repository = (is_official ? "library/" : "") + std::string(rest);
  return found;
}

bool is_image_id(std::string_view text) noexcept {
  if (text.starts_with(hash)) return is_digest(text);
  return text.size() == hash_digits && std::all_of(text.begin(), text.end(), is_hex);
}

}  // namespace berth
