#include "http/proxy.hpp"

#include "berth/error.hpp"
#include "core/text.hpp"

#include <asio/ip/address.hpp>
#include <asio/ip/network_v4.hpp>
#include <asio/ip/network_v6.hpp>

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <system_error>
#include <utility>

namespace berth::http {
namespace {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

struct named_value {
  const char* name;
  std::string value;
};

/// The first of the variables that is there and not empty.
std::optional<named_value> first_of(const proxy_rules::environment& variables,
                                    std::initializer_list<const char*> names) {
  for (const char* name : names) {
    auto value = variables(name);
    if (value && !value->empty()) return named_value{name, std::move(*value)};
  }
  return std::nullopt;
}

url parse_proxy(const named_value& from) {
  const char* name = from.name;
  std::string text = from.value;
  if (text.starts_with("socks"))
    throw error(errc::unsupported, fmt::format("{}: socks proxies are not supported", name));
  if (text.find("://") == std::string::npos) text.insert(0, "http://");
  try {
    url proxy = parse_url(text);
    if (proxy.scheme == "http" || proxy.scheme == "https") return proxy;
  } catch (const error& wrong) {
    throw wrong.within(name);
  }
  throw error(errc::invalid_argument, fmt::format("{}: a proxy is http or https", name));
}

bool is_below(std::string_view host, std::string_view domain) {
  return host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.';
}

bool is_loopback(const std::string& host) {
  if (host == "localhost" || is_below(host, "localhost")) return true;
  std::error_code no_address;
  const auto address = asio::ip::make_address(host, no_address);
  return !no_address && address.is_loopback();
}

bool is_in_network(const asio::ip::address& address, const std::string& network) {
  std::error_code failed;
  if (address.is_v4()) {
    const auto net = asio::ip::make_network_v4(network, failed);
    if (failed) return false;
    return asio::ip::make_network_v4(address.to_v4(), net.prefix_length()).canonical() == net.canonical();
  }
  const auto net = asio::ip::make_network_v6(network, failed);
  if (failed) return false;
  return asio::ip::network_v6(address.to_v6(), net.prefix_length()).canonical() == net.canonical();
}

}  // namespace

proxy_rules::proxy_rules(const url& for_all, std::string_view no_proxy) : http_(for_all), https_(for_all) {
  read_exceptions(no_proxy);
}

proxy_rules proxy_rules::from(const environment& variables) {
  proxy_rules rules;
  const bool cgi = variables("REQUEST_METHOD").has_value();
  auto http = first_of(variables, {"http_proxy"});
  if (!http && !cgi) http = first_of(variables, {"HTTP_PROXY"});
  auto https = first_of(variables, {"https_proxy", "HTTPS_PROXY"});
  const auto all = first_of(variables, {"all_proxy", "ALL_PROXY"});
  if (http || all) rules.http_ = parse_proxy(http ? *http : *all);
  if (https || all) rules.https_ = parse_proxy(https ? *https : *all);
  if (const auto none = first_of(variables, {"no_proxy", "NO_PROXY"})) rules.read_exceptions(none->value);
  return rules;
}

proxy_rules proxy_rules::from_environment() { return from(&variable); }

proxy_rules::exception proxy_rules::parse_exception(std::string_view entry) {
  exception found;
  const auto close = entry.rfind(']');
  const auto colon = entry.rfind(':');
  const bool one_colon = colon != std::string_view::npos && entry.find(':') == colon;
  const bool has_port = close != std::string_view::npos ? colon != std::string_view::npos && colon > close : one_colon;
  if (has_port) {
    const auto digits = entry.substr(colon + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), found.port);
    entry = entry.substr(0, colon);
  }
  if (entry.starts_with('[') && entry.ends_with(']')) entry = entry.substr(1, entry.size() - 2);
  if (entry.starts_with("*.")) entry.remove_prefix(1);
  for (const char c : entry) found.host += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return found;
}

void proxy_rules::read_exceptions(std::string_view list) {
  while (!list.empty()) {
    const auto comma = list.find(',');
    const auto entry = trimmed(list.substr(0, comma));
    if (!entry.empty()) exceptions_.push_back(parse_exception(entry));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
}

bool proxy_rules::is_excepted(const url& target) const {
  std::error_code no_address;
  const auto address = asio::ip::make_address(target.host, no_address);
  for (const auto& each : exceptions_) {
    if (each.host == "*") return true;
    if (each.port != 0 && each.port != target.effective_port()) continue;
    if (each.host == target.host) return true;
    if (!no_address) {
      std::error_code other;
      if (asio::ip::make_address(each.host, other) == address && !other) return true;
      if (is_in_network(address, each.host)) return true;
    } else if (is_below(target.host, each.host.starts_with('.') ? std::string_view(each.host).substr(1) : each.host)) {
      return true;
    }
  }
  return false;
}

const url* proxy_rules::choose(const url& target) const {
  if (target.scheme != "http" && target.scheme != "https" && target.scheme != "tcp") return nullptr;
  const auto& proxy = target.scheme == "https" ? https_ : http_;
  if (!proxy || is_loopback(target.host) || is_excepted(target)) return nullptr;
  return &*proxy;
}

std::optional<std::string> proxy_authorization(const url& proxy) {
  if (!proxy.user) return std::nullopt;
  return "Basic " + base64_encode(*proxy.user + ':' + proxy.password.value_or(""));
}

}  // namespace berth::http
