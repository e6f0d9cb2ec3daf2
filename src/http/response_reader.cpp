// The one place that knows Beast: its parser alone, none of its streams.
//
// Beast asserts at least 5 bytes where the last chunk is looked at again; a body of no chunks has 3 or 4, and is read rightly.
#define BOOST_DISABLE_ASSERTS
#include "http/response_reader.hpp"

#include "http/http_error.hpp"

#include <fmt/format.h>
#include <boost/beast/http/basic_parser.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace berth::http {
namespace {

namespace beast = boost::beast;
using beast_error = beast::error_code;
using beast_view = beast::string_view;

std::string text(beast_view from) { return std::string(from.data(), from.size()); }

/// One response or one 1xx answer. Gathers what one call of `put` finds.
class message_parser final : public beast::http::basic_parser<false> {
 public:
  explicit message_parser(std::size_t limit, bool no_body) {
    header_limit(static_cast<std::uint32_t>(limit));
    body_limit(boost::none);
    skip(no_body);
  }

  response_head head;
  headers trailers;
  std::string body;
  bool complete = false;

 private:
  void on_request_impl(beast::http::verb, beast_view, beast_view, int, beast_error&) override {}
  void on_response_impl(int status, beast_view reason, int version, beast_error&) override {
    head.status = status;
    head.reason = text(reason);
    head.minor_version = version - 10;
  }
  void on_field_impl(beast::http::field, beast_view name, beast_view value, beast_error&) override {
    (in_body_ ? trailers : head.fields).append(text(name), text(value));
  }
  void on_header_impl(beast_error&) override { in_body_ = true; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, beast_error&) override {}
  std::size_t on_body_impl(beast_view bytes, beast_error&) override {
    body.append(bytes.data(), bytes.size());
    return bytes.size();
  }
  void on_chunk_header_impl(std::uint64_t, beast_view, beast_error&) override {}
  std::size_t on_chunk_body_impl(std::uint64_t, beast_view bytes, beast_error& failed) override {
    return on_body_impl(bytes, failed);
  }
  void on_finish_impl(beast_error&) override { complete = true; }

  bool in_body_ = false;
};

[[noreturn]] void refuse(const std::string& why) {
  throw http_error(phase::protocol, true, errc::protocol, "the response makes no sense: " + why);
}

[[noreturn]] void too_large(const char* what) {
  throw http_error(phase::protocol, true, errc::limit_exceeded, fmt::format("the response has too large {}", what));
}

// Beast lets pass what is harmless between friends.
void check(const message_parser& parser) {
  const headers& fields = parser.head.fields;
  if (parser.head.status < 100) refuse("a status below 100");
  const auto length = fields.find("content-length");
  if (fields.count("content-length") > 1 || (length && length->find(',') != std::string_view::npos))
    refuse("several Content-Length");
  const auto coding = fields.find("transfer-encoding");
  if (!coding) return;
  if (fields.count("transfer-encoding") > 1 || !same_text(*coding, "chunked"))
    refuse("a Transfer-Encoding other than chunked");
  if (length) refuse("Content-Length beside Transfer-Encoding");
}

}  // namespace

struct response_reader::state {
  state(std::string_view of, reader_limits within) : method(of), limits(within) { next_message(); }

  void next_message() {
    parser = std::make_unique<message_parser>(limits.head, method == "HEAD");
    head_bytes = 0;
    in_head = true;
  }

  std::string_view unread() const noexcept { return std::string_view(input).substr(at); }

  /// Does the response have a head alone?
  bool no_body() const noexcept {
    const int status = parser->head.status;
    const bool tunnel = method == "CONNECT" && parser->head.is_success();
    return method == "HEAD" || tunnel || status == 204 || status == 304 || status < 200;
  }

  event step();
  event end_of_head();
  event end_of_input();
  bool put();

  std::string method;
  reader_limits limits;
  std::unique_ptr<message_parser> parser;
  std::string input;
  std::size_t at = 0;
  std::size_t head_bytes = 0;
  std::size_t interims = 0;
  std::uint64_t received = 0;
  bool in_head = true;
  bool started = false;
  bool hungry = false;  // what is there is not enough
  bool eof = false;
  bool ended = false;
  std::exception_ptr failure;
};

/// Hands bytes to the parser; false if it wants more of them.
bool response_reader::state::put() {
  const auto bytes = unread();
  beast_error failed;
  const auto used = parser->put(boost::asio::const_buffer(bytes.data(), bytes.size()), failed);
  at += used;
  if (in_head) head_bytes += used;
  if (!failed || failed == beast::http::error::need_more) {
    // Beast bounds the status line and the fields each, and a line between chunks not at all.
    const auto pending = failed ? unread().size() : 0;
    if (in_head && head_bytes + pending > limits.head) too_large("a head");
    const auto between = parser->body.empty() ? used : 0;
    if (!in_head && std::max(pending, between) > limits.head) too_large("a line between its chunks, or trailers");
    return !failed;
  }
  if (failed == beast::http::error::header_limit) too_large("a head");
  refuse(failed.message());
}

response_reader::event response_reader::state::end_of_head() {
  check(*parser);
  const int status = parser->head.status;
  if (status < 200 && status != 101) {
    if (++interims > limits.interim) too_large("a number of interim answers");
    return event::interim;
  }
  in_head = false;
  if (method == "CONNECT" && parser->head.is_success()) parser->complete = true;
  return event::head;
}

response_reader::event response_reader::state::end_of_input() {
  if (!started) throw http_error(phase::read, true, errc::lost, "the connection was closed without a response");
  beast_error failed = beast::http::error::partial_message;
  if (parser->got_some()) parser->put_eof(failed);
  if (!failed) {
    ended = true;
    return event::end;
  }
  if (in_head) throw http_error(phase::read, true, errc::lost, "the connection was closed in the head of the response");
  const auto length = parser->content_length();
  const auto of = length ? fmt::format(" of {}", *length) : std::string();
  throw http_error(
      phase::read, true, errc::lost,
      fmt::format("the connection was closed in the body of the response, after {}{} bytes", received, of));
}

response_reader::event response_reader::state::step() {
  if (in_head && parser->head.status != 0 && parser->is_header_done()) next_message();  // that was a 1xx
  for (;;) {
    if (!in_head && parser->complete) {
      ended = true;
      return event::end;
    }
    if (at == input.size() || hungry) {
      if (eof) return end_of_input();
      return event::need_more;
    }
    const bool moved = put();
    if (!parser->body.empty()) {
      received += parser->body.size();
      return event::body;
    }
    if (in_head && parser->is_header_done()) return end_of_head();
    hungry = !moved;
  }
}

response_reader::response_reader(std::string_view method, reader_limits limits)
    : state_(std::make_unique<state>(method, limits)) {}
response_reader::~response_reader() = default;

void response_reader::feed(std::string_view bytes) {
  if (bytes.empty()) return;
  state_->started = true;
  state_->hungry = false;
  if (state_->at > 0) state_->input.erase(0, std::exchange(state_->at, 0));
  state_->input += bytes;
}

void response_reader::finish() { state_->eof = true; }

response_reader::event response_reader::next() {
  if (state_->failure) std::rethrow_exception(state_->failure);
  if (state_->ended) return event::end;
  try {
    return state_->step();
  } catch (...) {
    state_->failure = std::current_exception();
    throw;
  }
}

const response_head& response_reader::head() const noexcept { return state_->parser->head; }

std::string response_reader::take_body() { return std::exchange(state_->parser->body, {}); }

const headers& response_reader::trailers() const noexcept { return state_->parser->trailers; }

std::string response_reader::take_rest() {
  std::string rest(state_->unread());
  state_->input.clear();
  state_->at = 0;
  return rest;
}

bool response_reader::started() const noexcept { return state_->started; }

std::optional<std::uint64_t> response_reader::content_length() const noexcept {
  if (state_->in_head || state_->no_body()) return std::nullopt;
  const auto length = state_->parser->content_length();
  return length ? std::optional<std::uint64_t>(*length) : std::nullopt;
}

bool response_reader::chunked() const noexcept { return !state_->in_head && state_->parser->chunked(); }

bool response_reader::reusable() const noexcept {
  const auto& self = *state_;
  const int status = self.parser->head.status;
  const bool tunnel = status == 101 || (self.method == "CONNECT" && self.parser->head.is_success());
  const bool odd = self.parser->head.minor_version == 0 && self.parser->chunked();
  return self.ended && !self.eof && !tunnel && !odd && self.unread().empty() && self.parser->keep_alive();
}

}  // namespace berth::http
