#pragma once
/// What is asked of a server, and what it answers.

#include "berth/files.hpp"
#include "http/message.hpp"
#include "http/url.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace berth::http {

/// One request. Movable only: a body may be a stream.
class request {
 public:
  using milliseconds = std::chrono::milliseconds;

  /// Errors: invalid_argument for a URL that is not http or https, and those of the fields.
  request(std::string method, std::string_view where);
  request(std::string method, url where);

  request& header(std::string_view name, std::string_view value) & {
    fields_.set(name, value);
    return *this;
  }
  /// Bytes; sent again where the request is repeated.
  request& body(std::string bytes, std::string_view content_type) &;
  /// A stream, read as the server takes it; its size, where it is known, saves the chunked form. A stream that gives more or less is
  /// errc::protocol, and the connection is closed. Its own errors come out of the request.
  request& body(std::unique_ptr<byte_source> source, std::optional<std::uint64_t> size,
                std::string_view content_type) &;
  /// Until the end of the response for `send`, until its head for `open` and `upgrade`; time in the pool's queue, connecting and
  /// redirects included. Default: 60 s. Zero: none.
  request& timeout(milliseconds time) & {
    timeout_ = time;
    return *this;
  }
  /// The longest time without a byte in either direction while a body streams, noticed within twice of it. Default: 60 s. Zero: none, for what is silent by its
  /// nature. Off after an upgrade.
  request& idle_timeout(milliseconds time) & {
    idle_timeout_ = time;
    return *this;
  }
  /// Most bytes of the response's body for `send`, and for refusals of `upgrade`. Default: 8 MiB.
  request& body_limit(std::size_t bytes) & {
    body_limit_ = bytes;
    return *this;
  }
  /// Redirects that are followed: of GET and HEAD without a body only, never from https to http. To another origin only harmless fields go along: no
  /// credentials. Default: 10; 0: a redirect is a response as any other.
  request& redirects(std::size_t most) & {
    redirects_ = most;
    return *this;
  }
  /// Asks the server whether it wants the body before it is sent, and waits up to 1 s for the answer.
  request& expect_continue(bool on = true) & {
    expect_continue_ = on;
    return *this;
  }
  request header(std::string_view name, std::string_view value) && { return std::move(header(name, value)); }
  request body(std::string bytes, std::string_view content_type) && {
    return std::move(body(std::move(bytes), content_type));
  }
  request body(std::unique_ptr<byte_source> source, std::optional<std::uint64_t> size,
               std::string_view content_type) && {
    return std::move(body(std::move(source), size, content_type));
  }
  request timeout(milliseconds time) && { return std::move(timeout(time)); }
  request idle_timeout(milliseconds time) && { return std::move(idle_timeout(time)); }
  request body_limit(std::size_t bytes) && { return std::move(body_limit(bytes)); }
  request redirects(std::size_t most) && { return std::move(redirects(most)); }
  request expect_continue(bool on = true) && { return std::move(expect_continue(on)); }

  const std::string& method() const noexcept { return method_; }
  const url& where() const noexcept { return where_; }
  const headers& fields() const noexcept { return fields_; }
  const std::string& bytes() const noexcept { return bytes_; }
  bool has_source() const noexcept { return source_ != nullptr; }
  std::unique_ptr<byte_source> take_source() noexcept { return std::move(source_); }
  body_framing framing() const noexcept;
  milliseconds timeout() const noexcept { return timeout_; }
  milliseconds idle_timeout() const noexcept { return idle_timeout_; }
  std::size_t body_limit() const noexcept { return body_limit_; }
  std::size_t redirects() const noexcept { return redirects_; }
  bool expects_continue() const noexcept { return expect_continue_; }

  /// Goes elsewhere, as a redirect says.
  void move_to(url where);

 private:
  std::string method_;
  url where_;
  headers fields_;
  std::string bytes_;
  std::unique_ptr<byte_source> source_;
  body_framing framing_;
  milliseconds timeout_ = std::chrono::seconds(60);
  milliseconds idle_timeout_ = std::chrono::seconds(60);
  std::size_t body_limit_ = 8 * 1024 * 1024;
  std::size_t redirects_ = 10;
  bool expect_continue_ = false;
};

/// A whole response.
class response {
 public:
  response() = default;
  response(response_head head, std::string body, headers trailers)
      : head_(std::move(head)), body_(std::move(body)), trailers_(std::move(trailers)) {}

  int status() const noexcept { return head_.status; }
  bool is_success() const noexcept { return head_.is_success(); }
  const response_head& head() const noexcept { return head_; }
  const headers& fields() const noexcept { return head_.fields; }
  const std::string& body() const noexcept { return body_; }
  const headers& trailers() const noexcept { return trailers_; }

 private:
  response_head head_;
  std::string body_;
  headers trailers_;
};

}  // namespace berth::http
