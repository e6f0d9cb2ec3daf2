#include "http/request.hpp"

#include "berth/error.hpp"

#include <array>

namespace berth::http {
namespace {

void check(const url& where) {
  if (where.scheme != "http" && where.scheme != "https")
    throw error(errc::invalid_argument, "request: the URL is not http or https: " + where.shown());
}

/// What may be told to a server that the caller did not name. A list of what is known to be harmless, not of secrets.
bool is_harmless(std::string_view name) {
  static constexpr std::array names = {
      "accept",        "accept-encoding", "accept-language",     "cache-control", "if-match",  "if-modified-since",
      "if-none-match", "if-range",        "if-unmodified-since", "range",         "user-agent"};
  for (const std::string_view each : names) {
    if (same_text(each, name)) return true;
  }
  return false;
}

}  // namespace

request::request(std::string method, std::string_view where) : request(std::move(method), parse_url(where)) {}

request::request(std::string method, url where) : method_(std::move(method)), where_(std::move(where)) {
  check(where_);
}

request& request::body(std::string bytes, std::string_view content_type) & {
  if (!content_type.empty()) fields_.set("Content-Type", content_type);
  framing_ = body_framing{body_framing::kind::length, bytes.size()};
  bytes_ = std::move(bytes);
  source_ = nullptr;
  return *this;
}

request& request::body(std::unique_ptr<byte_source> source, std::optional<std::uint64_t> size,
                       std::string_view content_type) & {
  if (!content_type.empty()) fields_.set("Content-Type", content_type);
  framing_ = body_framing{size ? body_framing::kind::length : body_framing::kind::chunked, size.value_or(0)};
  bytes_.clear();
  source_ = std::move(source);
  return *this;
}

body_framing request::framing() const noexcept { return framing_; }

void request::move_to(url where) {
  check(where);
  if (!where.same_origin(where_)) {
    headers kept;
    for (const auto& each : fields_) {
      if (is_harmless(each.name)) kept.append(each.name, each.value);
    }
    fields_ = std::move(kept);
  }
  where_ = std::move(where);
}

}  // namespace berth::http
