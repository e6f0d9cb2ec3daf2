#include "http/message.hpp"

#include "berth/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace berth::http {
namespace {

bool is_target(std::string_view target) {
  return !target.empty() && std::all_of(target.begin(), target.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

void check(const request_head& head) {
  if (!is_token(head.method)) throw error(errc::invalid_argument, "request: a method that cannot be");
  if (!is_target(head.target))
    throw error(errc::invalid_argument, "request: a target with spaces or control characters");
  if (head.fields.count("host") != 1) throw error(errc::invalid_argument, "request: exactly one Host is needed");
  for (const char* name : {"content-length", "transfer-encoding", "trailer"}) {
    if (head.fields.has(name))
      throw error(errc::invalid_argument, fmt::format("request: {} is written by the library", name));
  }
}

// RFC 9110 8.6: what has no body says so where the method expects one.
bool expects_body(std::string_view method) { return method == "POST" || method == "PUT" || method == "PATCH"; }

}  // namespace

bool is_safe_method(std::string_view method) noexcept {
  return method == "GET" || method == "HEAD" || method == "OPTIONS" || method == "TRACE";
}

std::string write_head(const request_head& head, const body_framing& framing) {
  check(head);
  std::string bytes = fmt::format("{} {} HTTP/1.1\r\n", head.method, head.target);
  for (const auto& each : head.fields) bytes.append(each.name).append(": ").append(each.value).append("\r\n");
  if (framing.how == body_framing::kind::chunked)
    bytes += "Transfer-Encoding: chunked\r\n";
  else if (framing.how == body_framing::kind::length || expects_body(head.method))
    bytes += fmt::format("Content-Length: {}\r\n", framing.length);
  return bytes += "\r\n";
}

std::string write_chunk(std::string_view bytes) {
  if (bytes.empty()) return {};
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

std::string write_last_chunk() { return "0\r\n\r\n"; }

}  // namespace berth::http
