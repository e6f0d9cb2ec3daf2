#include "http/form_parser.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <utility>

namespace berth::http {
namespace {

constexpr std::string_view line_end = "\r\n";

/// Takes `; name=value` or `; name="value"` off the front; false at the end, or at what is none.
bool take_parameter(std::string_view& text, std::string_view& name, std::string& value) {
  text = trimmed(text);
  if (!text.starts_with(';')) return false;
  text.remove_prefix(1);
  const auto equals = text.find('=');
  if (equals == std::string_view::npos) return false;
  name = trimmed(text.substr(0, equals));
  text = trimmed(text.substr(equals + 1));
  value.clear();
  if (!text.starts_with('"')) {
    const auto end = std::min(text.find(';'), text.size());
    value = trimmed(text.substr(0, end));
    text.remove_prefix(end);
    return true;
  }
  std::size_t at = 1;
  for (; at < text.size() && text[at] != '"'; ++at) {
    const bool escaped = text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\');
    value += text[escaped ? ++at : at];
  }
  if (at == text.size()) return false;  // no closing quote
  text.remove_prefix(at + 1);
  return true;
}

/// The type in front of the parameters.
std::string_view take_type(std::string_view& text) {
  const auto end = std::min(text.find(';'), text.size());
  const auto type = trimmed(text.substr(0, end));
  text.remove_prefix(end);
  return type;
}

std::string boundary_of(std::string_view content_type) {
  if (!same_text(take_type(content_type), "multipart/form-data"))
    throw error(errc::protocol, "form: its type is not multipart/form-data");
  std::string_view name;
  std::string value;
  while (take_parameter(content_type, name, value)) {
    if (!same_text(name, "boundary")) continue;
    const bool fits = std::all_of(value.begin(), value.end(), [](char c) { return c >= 0x20 && c < 0x7f; });
    if (!value.empty() && value.size() <= 70 && fits && value.back() != ' ') return value;
  }
  throw error(errc::protocol, "form: no boundary in its type");
}

}  // namespace

// The first delimiter may stand at the very beginning: as if a line had ended before.
form_parser::form_parser(std::string_view content_type, form_limits limits)
    : limits_(limits), delimiter_("\r\n--" + boundary_of(content_type)), input_(line_end) {}

void form_parser::feed(std::string_view bytes) {
  if (place_ == place::end) return;
  if (at_ > 0) input_.erase(0, std::exchange(at_, 0));
  input_ += bytes;
}

void form_parser::finish() { eof_ = true; }

std::string form_parser::take_body() { return std::exchange(body_, {}); }

void form_parser::fail(errc code, const char* why) {
  failure_ = code;
  reason_ = std::string("form: ") + why;
  throw error(*failure_, reason_);
}

form_parser::event form_parser::next() {
  if (failure_) throw error(*failure_, reason_);
  return step();
}

form_parser::event form_parser::more() {
  if (eof_) fail(errc::protocol, "it ends early");
  return event::need_more;
}

// Each read_x takes what it can, and is false if it wants more bytes.
form_parser::event form_parser::step() {
  for (;;) {
    switch (place_) {
      case place::preamble:
        if (!skip_preamble()) return more();
        break;
      case place::delimiter:
        if (!read_delimiter()) return more();
        break;
      case place::head:
        if (!read_head()) return more();
        return event::part;
      case place::body: {
        const bool moved = read_body();
        if (!body_.empty()) return event::body;
        if (!moved) return more();
        break;
      }
      case place::end:
        input_.clear();
        at_ = 0;
        return event::end;
    }
  }
}

bool form_parser::skip_preamble() {
  const auto found = unread().find(delimiter_);
  if (found == std::string_view::npos) {
    at_ = std::max(at_, input_.size() - std::min(input_.size(), delimiter_.size() - 1));
    return false;
  }
  at_ += found + delimiter_.size();
  place_ = place::delimiter;
  return true;
}

/// Behind a delimiter: "--" after the last part, else spaces and the end of the line.
bool form_parser::read_delimiter() {
  const auto rest = unread();
  if (rest.size() < 2) return false;
  if (rest.starts_with("--")) {
    place_ = place::end;
    return true;
  }
  const auto end = std::min(rest.find_first_not_of(" \t"), rest.size());
  if (end > limits_.head) fail(errc::limit_exceeded, "a part's head is too large");
  if (end + line_end.size() > rest.size()) return false;
  if (rest.substr(end, 2) != line_end) fail(errc::protocol, "signs behind a boundary");
  if (++parts_ > limits_.parts) fail(errc::limit_exceeded, "too many parts");
  at_ += end;  // the line end stays: an empty head is then two of them as well
  place_ = place::head;
  return true;
}

bool form_parser::read_head() {
  const auto rest = unread();
  const auto end = rest.find("\r\n\r\n");
  // The same answer however the bytes came: without an end yet, the earliest place where it may begin counts.
  const auto least = end != std::string_view::npos ? end : std::max<std::size_t>(rest.size(), 3) - 3;
  if (least > limits_.head) fail(errc::limit_exceeded, "a part's head is too large");
  if (end == std::string_view::npos) return false;
  fields_ = {};
  std::string_view lines = rest.substr(0, end);
  while (!lines.empty()) {
    lines.remove_prefix(line_end.size());
    const auto line = lines.substr(0, lines.find(line_end));
    lines.remove_prefix(line.size());
    read_field(line);
  }
  read_disposition();
  at_ += end + 2 * line_end.size();
  place_ = place::body;
  return true;
}

void form_parser::read_field(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) fail(errc::protocol, "a line in a part's head that is no field");
  try {
    fields_.add(line.substr(0, colon), line.substr(colon + 1));
  } catch (const error&) {
    fail(errc::protocol, "a field in a part's head that cannot be");
  }
}

void form_parser::read_disposition() {
  name_.clear();
  filename_.reset();
  std::string_view text = fields_.find("content-disposition").value_or("");
  if (!same_text(take_type(text), "form-data")) fail(errc::protocol, "a part without Content-Disposition: form-data");
  std::string_view name;
  std::string value;
  bool named = false;
  while (take_parameter(text, name, value)) {
    if (same_text(name, "name")) {
      name_ = value;
      named = true;
    } else if (same_text(name, "filename")) {
      filename_ = value;
    }
  }
  if (!named) fail(errc::protocol, "a part without a name");
}

bool form_parser::read_body() {
  const auto rest = unread();
  const auto found = rest.find(delimiter_);
  if (found != std::string_view::npos) {
    body_ += rest.substr(0, found);
    at_ += found + delimiter_.size();
    place_ = place::delimiter;
    return true;
  }
  // A delimiter may have begun in what is kept.
  const auto kept = std::min(rest.size(), delimiter_.size() - 1);
  body_ += rest.substr(0, rest.size() - kept);
  at_ += rest.size() - kept;
  return false;
}

}  // namespace berth::http
