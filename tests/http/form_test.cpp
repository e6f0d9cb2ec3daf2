#include "http/form_parser.hpp"
#include "http/form_writer.hpp"

#include "support/async.hpp"

#include <string>
#include <vector>

namespace berth::http {
namespace {

using form_event = form_parser::event;

const std::string form_type = "multipart/form-data; boundary=XX";

/// "name(filename)=body;..." or the code of the error.
std::string form_reading(std::string_view bytes, std::size_t piece, std::string_view content_type = form_type) {
  std::string seen;
  try {
    form_parser parser(content_type);
    std::size_t at = 0;
    for (;;) {
      const form_event found = parser.next();
      if (found == form_event::need_more) {
        if (at >= bytes.size()) parser.finish();
        parser.feed(bytes.substr(std::min(at, bytes.size()), piece));
        at += piece;
      } else if (found == form_event::part) {
        seen += ';' + parser.name() + (parser.filename() ? '(' + *parser.filename() + ')' : "") + '=';
      } else if (found == form_event::body) {
        seen += parser.take_body();
      } else {
        return seen;
      }
    }
  } catch (const error& failed) {
    return seen + "error:" + failed.code().message();
  }
}

std::string form_read_as(std::string_view bytes) {
  const auto whole = form_reading(bytes, bytes.size() + 1);
  for (const std::size_t piece : {1, 2, 3, 5}) CHECK(form_reading(bytes, piece) == whole);
  return whole;
}

const std::string form_part_a = "--XX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n";

TEST_CASE("form: parts with fields and filenames") {
  CHECK(form_read_as(form_part_a + "--XX--\r\n") == ";a=1");
  CHECK(form_read_as("ignored\r\n" + form_part_a +
                     "--XX \t\r\ncontent-disposition: Form-Data; filename=\"x \\\"y\\\".bin\"; name=b\r\n"
                     "Content-Type: text/plain\r\n\r\nline\r\n--X\r\n\r\n--XX--ignored") ==
        ";a=1;b(x \"y\".bin)=line\r\n--X\r\n");
  CHECK(form_read_as("--XX\r\nContent-Disposition: form-data; name=\"\"\r\n\r\n\r\n--XX--") == ";=");
  CHECK(form_read_as("--XX--") == "");
}

TEST_CASE("form: what is cut or makes no sense is refused") {
  CHECK(form_read_as("") == "error:protocol violated");
  CHECK(form_read_as(form_part_a) == ";a=error:protocol violated");
  CHECK(form_read_as("--XX\r\n\r\nx\r\n--XX--") == "error:protocol violated");
  CHECK(form_read_as("--XX\r\nContent-Disposition: attachment; name=a\r\n\r\nx\r\n--XX--") ==
        "error:protocol violated");
  CHECK(form_read_as("--XX\r\nContent-Disposition: form-data\r\n\r\nx\r\n--XX--") == "error:protocol violated");
  CHECK(form_read_as("--XX\r\nno field\r\n\r\nx\r\n--XX--") == "error:protocol violated");
  CHECK(form_read_as("--XXY\r\nContent-Disposition: form-data; name=a\r\n\r\nx\r\n--XX--") ==
        "error:protocol violated");
  CHECK(form_read_as("--XX\r\nX: " + std::string(20'000, 'x') + "\r\n\r\n") == "error:limit exceeded");
  for (const char* other : {"text/plain; boundary=XX", "multipart/form-data", "multipart/form-data; boundary=", "",
                            "multipart/form-data; boundary=\"a"})
    CHECK(form_reading(form_part_a, 1, other) == "error:protocol violated");
  CHECK(form_reading(form_part_a + "--XX--", 1, "Multipart/Form-Data; charset=x; Boundary=\"XX\"") == ";a=1");
}

TEST_CASE("form: the number of parts is bounded") {
  form_limits limits;
  limits.parts = 1;
  form_parser parser(form_type, limits);
  parser.feed(form_part_a + form_part_a + "--XX--");
  CHECK(parser.next() == form_event::part);
  CHECK(parser.next() == form_event::body);
  CHECK_THROWS_AS(parser.next(), error);
  CHECK_THROWS_AS(parser.next(), error);
}

task<std::string> all_of(std::shared_ptr<form_writer> form) {
  std::string all;
  for (;;) {
    const std::string piece = co_await form->next();
    if (piece.empty()) co_return all;
    all += piece;
  }
}

ASYNC_TEST("form: what is written is what is read") {
  std::vector<form_part> parts;
  parts.emplace_back("plain", "value");
  parts.push_back(
      form_part("file", make_byte_source("\r\n--XX bytes"), 12).filename("a\"b\r\n.bin").content_type("x/y"));
  parts.emplace_back("empty", "");
  const auto form = std::make_shared<form_writer>(std::move(parts));
  const auto size = form->size();
  const std::string written = co_await all_of(form);
  CHECK(size == written.size());
  const std::string content_type = form->content_type();
  CHECK(form_reading(written, 3, content_type) == ";plain=value;file(a%22b%0D%0A.bin)=\r\n--XX bytes;empty=");
  const std::string after = co_await form->next();
  CHECK(after.empty());
}

ASYNC_TEST("form: a source of another size than was said is an error") {
  std::vector<form_part> parts;
  parts.emplace_back("file", make_byte_source("12345"), 4);
  const auto form = std::make_shared<form_writer>(std::move(parts));
  std::error_code code;
  try {
    (void)co_await all_of(form);
  } catch (const error& failed) {
    code = failed.code();
  }
  CHECK(code == errc::protocol);
  std::vector<form_part> unknown;
  unknown.emplace_back("file", make_byte_source("12345"));
  CHECK_FALSE(form_writer(std::move(unknown)).size().has_value());
  std::vector<form_part> odd;
  odd.push_back(form_part("a", "b").content_type("x\r\ny"));
  CHECK_THROWS_AS(form_writer(std::move(odd)), error);
  CHECK_THROWS_AS(form_writer(std::vector<form_part>(), "a b"), error);
}

}  // namespace
}  // namespace berth::http
