#include "http/message.hpp"

#include "berth/error.hpp"

#include <doctest/doctest.h>

#include <string>

namespace berth::http {
namespace {

using kind = body_framing::kind;

request_head head_for(std::string method, std::string target = "/") {
  request_head head;
  head.method = std::move(method);
  head.target = std::move(target);
  head.fields.add("Host", "h");
  return head;
}

TEST_CASE("headers: order is kept, case does not matter, set replaces all") {
  headers fields;
  fields.add("A", "1").add("b", " 2\t").add("a", "3").add("C", "");
  CHECK(fields.find("B") == "2");
  CHECK(fields.count("A") == 2);
  fields.set("a", "4");
  REQUIRE(fields.size() == 3);
  CHECK(fields.begin()->name == "A");
  CHECK(fields.begin()->value == "4");
  CHECK(fields.has("c"));
}

TEST_CASE("headers: nothing can smuggle a second field in") {
  headers fields;
  const std::string nul("a\0b", 3);
  for (const std::string& value :
       {std::string("a\r\nX: y"), std::string("a\nb"), std::string("a\rb"), nul, std::string("\x7f")})
    CHECK_THROWS_AS(fields.add("Name", value), error);
  for (const std::string& name : {std::string("a b"), std::string("a:"), std::string(""), std::string("a\r\nb"),
                                  std::string("ä"), std::string("a\0", 2)})
    CHECK_THROWS_AS(fields.set(name, "x"), error);
  CHECK(fields.empty());
  std::string refusal;
  try {
    fields.add("Authorization", "secret\n");
  } catch (const error& wrong) {
    refusal = wrong.what();
  }
  CHECK(refusal.starts_with("header Authorization: "));
  CHECK(refusal.find("secret") == std::string::npos);
}

TEST_CASE("request: its head says how the body ends") {
  CHECK(write_head(head_for("GET", "/a?b"), {}) == "GET /a?b HTTP/1.1\r\nHost: h\r\n\r\n");
  CHECK(write_head(head_for("POST"), {}) == "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n");
  CHECK(write_head(head_for("PUT"), {kind::length, 5}) == "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n");
  CHECK(write_head(head_for("PUT"), {kind::chunked, 0}) ==
        "PUT / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
  CHECK(write_chunk(std::string(17, 'x')) == "11\r\n" + std::string(17, 'x') + "\r\n");
  CHECK(write_chunk("").empty());
}

TEST_CASE("request: what would break its head is refused") {
  for (const char* method : {"", "GE T", "GET\r\n", "G(T"}) CHECK_THROWS_AS(write_head(head_for(method), {}), error);
  for (const char* target : {"", "/a b", "/\r\nX: y", "/\n", "/\x7f", "/\xc3\xa4"})
    CHECK_THROWS_AS(write_head(head_for("GET", target), {}), error);
  request_head no_host;
  CHECK_THROWS_AS(write_head(no_host, {}), error);
  request_head two_hosts = head_for("GET");
  two_hosts.fields.add("host", "other");
  CHECK_THROWS_AS(write_head(two_hosts, {}), error);
  for (const char* name : {"Content-Length", "transfer-encoding", "Trailer"}) {
    request_head framed = head_for("POST");
    framed.fields.add(name, "1");
    CHECK_THROWS_AS(write_head(framed, {}), error);
  }
}

}  // namespace
}  // namespace berth::http
