#include "core/json.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

using namespace berth;

namespace {

std::string round_trip(std::string_view text) { return json::parse(text).dump(); }

std::error_code refused(std::string_view text, json_limits limits = json_limits()) {
  try {
    (void)json::parse(text, limits);
  } catch (const error& caught) {
    return caught.code();
  }
  return {};
}

}  // namespace

TEST_CASE("json: documents come back as they were, members in order") {
  for (const auto* text : {"null", "true", "false", "0", "-1", "[]", "{}", "\"\"", "[1,[2,[3]],{}]",
                           R"({"z":1,"a":{"b":[true,false,null]},"m":"x"})"})
    CHECK(round_trip(text) == text);
}

TEST_CASE("json: white space is accepted and not written") {
  CHECK(round_trip(" { \"a\" :\n[ 1 ,\t2 ] } ") == R"({"a":[1,2]})");
}

TEST_CASE("json: integers of 64 bits are exact") {
  CHECK(json::parse("9223372036854775807").as_int() == std::numeric_limits<std::int64_t>::max());
  CHECK(json::parse("-9223372036854775808").as_int() == std::numeric_limits<std::int64_t>::min());
  CHECK(round_trip("9223372036854775807") == "9223372036854775807");
}

TEST_CASE("json: integers beyond 64 bits signed become doubles") {
  CHECK_FALSE(json::parse("9223372036854775808").if_int());
  CHECK(json::parse("9223372036854775808").as_double() == 9223372036854775808.0);
  CHECK(json(std::numeric_limits<std::uint64_t>::max()).as_double() == 18446744073709551616.0);
}

TEST_CASE("json: numbers that are integral count as integers") {
  CHECK(json::parse("3.0").as_int() == 3);
  CHECK(json::parse("1e3").as_int() == 1000);
  CHECK(json(3.0).dump() == "3");
  CHECK_FALSE(json(3.5).if_int());
  CHECK_FALSE(json(1e300).if_int());
  CHECK_FALSE(json(std::nan("")).if_int());
}

TEST_CASE("json: doubles survive writing and reading") {
  for (const double number : {0.1, -1.5, 1e300, 5e-324, 1.7976931348623157e308, 123456.789})
    CHECK(json::parse(json(number).dump()).as_double() == number);
}

TEST_CASE("json: what is not a finite number is written as null") {
  CHECK(json(std::numeric_limits<double>::infinity()).dump() == "null");
  CHECK(json(std::nan("")).dump() == "null");
}

TEST_CASE("json: escapes are read and written") {
  CHECK(json::parse(R"("\"\\\/\b\f\n\r\t\u0041\u00e9\ud83d\ude00")").as_string() == "\"\\/\b\f\n\r\tA\u00e9\U0001F600");
  CHECK(json("\"\\\n\x01").dump() == R"("\"\\\n\u0001")");
  CHECK(json(std::string("a\0b", 3)).dump() == R"("a\u0000b")");
  CHECK(json::parse(R"("a\u0000b")").as_string() == std::string("a\0b", 3));
  for (int byte = 1; byte < 128; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    CHECK(json::parse(json(text).dump()).as_string() == text);
  }
}

TEST_CASE("json: a lone surrogate in an escape becomes U+FFFD or is refused") {
  for (const auto* text : {R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")"}) {
    const auto code = refused(text);
    if (!code)
      CHECK(round_trip(text).find("\xEF\xBF\xBD") != std::string::npos);
    else
      CHECK(code == errc::protocol);
  }
}

TEST_CASE("json: strings that are not UTF-8 are written with U+FFFD") {
  CHECK(json("a\xFFz").dump() == "\"a\xEF\xBF\xBDz\"");
  CHECK(json("\xED\xA0\x80").dump() == "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"");
  CHECK(json(json_object{{"k\xC0", 1}}).dump() == "{\"k\xEF\xBF\xBD\":1}");
}

TEST_CASE("json: documents that are not UTF-8 are refused") {
  CHECK(refused("\"\xFF\"") == errc::protocol);
  CHECK(refused("\"\xED\xA0\x80\"") == errc::protocol);
  CHECK(refused("\"\xC0\xAF\"") == errc::protocol);
}

TEST_CASE("json: malformed documents are refused with a reason") {
  for (const auto* text : {"",    " ",    "{",   "[",   "[1",  "[1,]", "{\"a\"}",    "{\"a\":}", "{a:1}",
                           "01",  "1.",   ".5",  "+1",  "nul", "tru",  "\"",         "\"\\x\"",  "\"\n\"",
                           "1 2", "[1]]", "'a'", "NaN", "-",   "1e",   "{\"a\":1,}", "// x",     "\"\\u12\""}) {
    CAPTURE(text);
    CHECK(refused(text) == errc::protocol);
  }
  try {
    (void)json::parse("{\"a\":}");
  } catch (const error& caught) {
    CHECK(caught.message().starts_with("json: "));
    CHECK(caught.message().size() > 10);
  }
}

TEST_CASE("json: depth is bounded") {
  const std::string deep = std::string(100, '[') + std::string(100, ']');
  CHECK_FALSE(refused(deep));
  CHECK(refused(std::string(200, '[') + std::string(200, ']')) == errc::limit_exceeded);
  CHECK(refused(std::string(1'000'000, '[') + std::string(1'000'000, ']')) == errc::limit_exceeded);
  CHECK(refused(std::string(1'000'000, '[')));
  std::string objects;
  for (int i = 0; i < 100'000; ++i) objects += "{\"a\":";
  CHECK(refused(objects));
  CHECK(refused(objects + '1' + std::string(100'000, '}')) == errc::limit_exceeded);
}

TEST_CASE("json: size is bounded") {
  json_limits small;
  small.size = 10;
  CHECK_FALSE(refused("[1,2,3,45]", small));
  CHECK(refused("[1,2,3,456]", small) == errc::limit_exceeded);
}

TEST_CASE("json: a long document is read") {
  json_array items;
  for (int i = 0; i < 100'000; ++i) items.emplace_back(std::to_string(i));
  const json document(std::move(items));
  CHECK(json::parse(document.dump()) == document);
}

TEST_CASE("json: of members with the same name the last counts") {
  const auto document = json::parse(R"({"a":1,"a":2})");
  CHECK(document["a"].as_int() == 2);
  CHECK(document.dump() == R"({"a":2})");
}

TEST_CASE("json: members are set in place or appended") {
  json_object object{{"a", 1}, {"b", "x"}};
  object.set("a", 2).set("c", nullptr);
  CHECK(json(object).dump() == R"({"a":2,"b":"x","c":null})");
}

TEST_CASE("json: a missing member is null by index and an error by at") {
  const auto document = json::parse(R"({"a":{"b":1}})");
  CHECK(document["a"]["b"].as_int() == 1);
  CHECK(document["x"]["y"].is_null());
  std::string message;
  try {
    (void)document.at("x");
  } catch (const error& caught) {
    message = caught.message();
  }
  CHECK(message == "json: no member \"x\"");
}

TEST_CASE("json: a wrong type is a protocol error that says what was expected") {
  std::string message;
  try {
    (void)json("text").as_int();
  } catch (const error& caught) {
    CHECK(caught.code() == errc::protocol);
    message = caught.message();
  }
  CHECK(message == "json: expected an integer");
  CHECK_THROWS_AS((void)json(1).as_string(), error);
  CHECK_THROWS_AS((void)json(1).as_bool(), error);
  CHECK_THROWS_AS((void)json(true).as_double(), error);
  CHECK_THROWS_AS((void)json(1).at("a"), error);
}
