#include "http/url.hpp"

#include "berth/error.hpp"

#include <arpa/inet.h>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

namespace berth::http {
namespace {

[[noreturn]] void refuse(const char* why) { throw error(errc::invalid_argument, fmt::format("URL: {}", why)); }

bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_unreserved(char c) {
  return is_alpha(c) || is_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string all(text);
  for (char& c : all) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
  }
  return all;
}

void add_encoded(std::string& to, char c) { to += fmt::format("%{:02X}", static_cast<unsigned char>(c)); }

/// A path or query as it may be sent. What is encoded already stays.
std::string sendable(std::string_view text) {
  std::string all;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) refuse("control characters");
    if (byte >= 0x80 || std::string_view(" \"<>\\^`{|}").find(c) != std::string_view::npos)
      add_encoded(all, c);
    else
      all += c;
  }
  return all;
}

std::uint16_t scheme_port(std::string_view scheme) {
  if (scheme == "http") return 80;
  if (scheme == "https") return 443;
  return scheme == "ssh" ? 22 : 0;
}

std::uint16_t parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (failed != std::errc() || end != text.data() + text.size() || port == 0)
    refuse("the port is no number from 1 to 65535");
  return port;
}

std::string without_zone(std::string_view host) { return std::string(host.substr(0, host.find('%'))); }

std::string parse_ipv6(std::string_view inside) {
  std::string host = lower(inside);
  if (const auto zone = host.find("%25"); zone != std::string::npos) host.replace(zone, 3, "%");
  in6_addr address;
  if (::inet_pton(AF_INET6, without_zone(host).c_str(), &address) != 1) refuse("what stands in [ ] is no IPv6 address");
  const auto zone = host.find('%');
  if (zone == std::string::npos) return host;
  const std::string_view name = std::string_view(host).substr(zone + 1);
  if (name.empty() || !std::all_of(name.begin(), name.end(), is_unreserved)) refuse("the zone of the address is odd");
  return host;
}

std::string parse_name(std::string_view text) {
  const auto fits = [](char c) {
    return is_unreserved(c) || std::string_view("!$&'()*+,;=").find(c) != std::string_view::npos;
  };
  if (text.empty()) refuse("no host");
  if (!std::all_of(text.begin(), text.end(), fits)) refuse("signs in the host that no name has");
  return lower(text);
}

void parse_user(url& into, std::string_view text) {
  const auto colon = text.find(':');
  into.user = percent_decode(text.substr(0, colon));
  if (colon != std::string_view::npos) into.password = percent_decode(text.substr(colon + 1));
}

void parse_authority(url& into, std::string_view text) {
  if (const auto at = text.rfind('@'); at != std::string_view::npos) {
    parse_user(into, text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  std::string_view port;
  if (text.starts_with('[')) {
    const auto close = text.find(']');
    if (close == std::string_view::npos) refuse("a [ without ]");
    into.host = parse_ipv6(text.substr(1, close - 1));
    port = text.substr(close + 1);
  } else {
    const auto colon = text.find(':');
    into.host = parse_name(text.substr(0, colon));
    port = colon == std::string_view::npos ? std::string_view() : text.substr(colon);
  }
  if (port.empty()) return;
  if (port.front() != ':') refuse("signs between host and port");
  if (port.size() > 1) into.port = parse_port(port.substr(1));
}

void parse_path(url& into, std::string_view text) {
  text = text.substr(0, text.find('#'));
  const auto mark = text.find('?');
  into.path = sendable(text.substr(0, mark));
  if (mark != std::string_view::npos) into.query = sendable(text.substr(mark + 1));
}

std::string without_dots(std::string_view path) {
  std::vector<std::string_view> kept;
  const bool to_directory = path.ends_with("/.") || path.ends_with("/..") || path.ends_with('/');
  while (!path.empty()) {
    path.remove_prefix(path.front() == '/' ? 1 : 0);
    const auto part = path.substr(0, path.find('/'));
    path.remove_prefix(part.size());
    if (part == "..") {
      if (!kept.empty()) kept.pop_back();
    } else if (part != "." && !(part.empty() && path.empty())) {
      kept.push_back(part);
    }
  }
  std::string all;
  for (const auto part : kept) all.append("/").append(part);
  if (to_directory || all.empty()) all += '/';
  return all;
}

}  // namespace

std::uint16_t url::effective_port() const noexcept { return port != 0 ? port : scheme_port(scheme); }

std::string url::authority() const {
  const std::string plain = without_zone(host);
  if (port != 0 && port != scheme_port(scheme)) return host_and_port(plain, port);
  return plain.find(':') == std::string::npos ? plain : '[' + plain + ']';
}

std::string url::target() const {
  std::string all = path.empty() ? "/" : path;
  if (query) all.append("?").append(*query);
  return all;
}

std::string url::shown() const {
  if (scheme == "unix") return "unix://" + path;
  const std::string bracketed = host.find(':') == std::string::npos ? host : '[' + host + ']';
  return fmt::format("{}://{}{}", scheme, port != 0 ? host_and_port(host, port) : bracketed, path);
}

std::string url::text() const {
  if (scheme == "unix") return "unix://" + path;
  std::string account;
  if (user) account = percent_encode(*user);
  if (password) account += ':' + percent_encode(*password);
  if (user) account += '@';
  std::string name = host;
  if (const auto zone = name.find('%'); zone != std::string::npos) name.replace(zone, 1, "%25");
  if (name.find(':') != std::string::npos) name = '[' + name + ']';
  if (port != 0) name += fmt::format(":{}", port);
  return fmt::format("{}://{}{}{}{}{}", scheme, account, name, path, query ? "?" : "", query.value_or(""));
}

bool url::same_origin(const url& other) const noexcept {
  return scheme == other.scheme && host == other.host && effective_port() == other.effective_port();
}

url parse_url(std::string_view text) {
  const auto end = text.find("://");
  if (end == std::string_view::npos) refuse("no scheme with ://");
  url parsed;
  parsed.scheme = lower(text.substr(0, end));
  std::string_view rest = text.substr(end + 3);
  if (parsed.scheme == "unix") {
    if (rest.empty() || rest.find('\0') != std::string_view::npos) refuse("unix:// needs the path of a socket");
    parsed.path = rest;
    return parsed;
  }
  if (parsed.scheme != "http" && parsed.scheme != "https" && parsed.scheme != "tcp" && parsed.scheme != "ssh")
    refuse("a scheme other than http, https, unix, tcp and ssh");
  const auto authority = rest.substr(0, rest.find_first_of("/?#"));
  parse_authority(parsed, authority);
  parse_path(parsed, rest.substr(authority.size()));
  if (parsed.path.empty() && parsed.scheme.starts_with("http")) parsed.path = "/";
  return parsed;
}

url resolve_reference(const url& base, std::string_view reference) {
  const auto scheme_end = reference.find(':');
  if (scheme_end != std::string_view::npos && scheme_end < reference.find_first_of("/?#")) return parse_url(reference);
  if (reference.starts_with("//")) return parse_url(base.scheme + ':' + std::string(reference));
  url found = base;
  url relative;
  parse_path(relative, reference);
  found.query = relative.query;
  if (relative.path.empty()) {
    if (!relative.query) found.query = base.query;
    return found;
  }
  const auto directory = base.path.substr(0, base.path.rfind('/') + 1);
  found.path = without_dots(relative.path.starts_with('/') ? relative.path : directory + relative.path);
  return found;
}

std::string percent_encode(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (is_unreserved(c))
      all += c;
    else
      add_encoded(all, c);
  }
  return all;
}

std::string percent_encode_path(std::string_view path) {
  std::string all;
  for (const char c : path) {
    if (is_unreserved(c) || c == '/')
      all += c;
    else
      add_encoded(all, c);
  }
  return all;
}

std::string percent_decode(std::string_view text) {
  std::string all;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      all += text[at];
      continue;
    }
    unsigned value = 0;
    const char* digits = text.data() + at + 1;
    if (at + 2 >= text.size() || std::from_chars(digits, digits + 2, value, 16).ptr != digits + 2)
      refuse("a % without two digits behind it");
    all += static_cast<char>(value);
    at += 2;
  }
  return all;
}

std::string host_and_port(std::string_view host, std::uint16_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

bool is_address(std::string_view host) {
  const std::string plain = without_zone(host);
  in6_addr six;
  in_addr four;
  return ::inet_pton(AF_INET6, plain.c_str(), &six) == 1 || ::inet_pton(AF_INET, plain.c_str(), &four) == 1;
}

query_builder& query_builder::add(std::string_view name, std::string_view value) {
  if (!text_.empty()) text_ += '&';
  text_ += percent_encode(name) + '=' + percent_encode(value);
  return *this;
}

std::string query_builder::behind(std::string_view path) const {
  return text_.empty() ? std::string(path) : fmt::format("{}?{}", path, text_);
}

}  // namespace berth::http
