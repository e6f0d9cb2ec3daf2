#include "http/url.hpp"

#include "berth/error.hpp"

#include <doctest/doctest.h>

#include <string>

namespace berth::http {
namespace {

std::string refusal_of(std::string_view text) {
  try {
    (void)parse_url(text);
  } catch (const error& wrong) {
    CHECK(wrong.code() == errc::invalid_argument);
    return wrong.what();
  }
  return "";
}

TEST_CASE("url: the parts of an http URL") {
  const url all = parse_url("HTTPS://User%40x:p%3Aw@Example.COM:8443/a%20b/c?x=1&y#part");
  CHECK(all.scheme == "https");
  CHECK(all.user == "User@x");
  CHECK(all.password == "p:w");
  CHECK(all.host == "example.com");
  CHECK(all.port == 8443);
  CHECK(all.target() == "/a%20b/c?x=1&y");
  CHECK(all.authority() == "example.com:8443");
  CHECK(all.text() == "https://User%40x:p%3Aw@example.com:8443/a%20b/c?x=1&y");
}

TEST_CASE("url: what is shown has neither account nor query") {
  CHECK(parse_url("http://me:secret@host:81/path?token=secret").shown() == "http://host:81/path");
}

TEST_CASE("url: defaults of port and path") {
  CHECK(parse_url("http://host").effective_port() == 80);
  CHECK(parse_url("https://host?q").effective_port() == 443);
  CHECK(parse_url("https://host?q").target() == "/?q");
  CHECK(parse_url("ssh://me@host/run/docker.sock").effective_port() == 22);
  CHECK(parse_url("ssh://me@host").path.empty());
  CHECK(parse_url("tcp://host").effective_port() == 0);
  CHECK(parse_url("http://host:80").authority() == "host");
  CHECK(parse_url("http://host:").authority() == "host");
}

TEST_CASE("url: unix sockets have a path and nothing else") {
  const url socket = parse_url("unix:///run/a b%20.sock?x");
  CHECK(socket.path == "/run/a b%20.sock?x");
  CHECK(socket.shown() == "unix:///run/a b%20.sock?x");
}

TEST_CASE("url: IPv6 addresses, with a zone too") {
  CHECK(parse_url("http://[::1]:8080/").host == "::1");
  CHECK(parse_url("http://[::1]:8080/").authority() == "[::1]:8080");
  CHECK(parse_url("http://[::1]/").authority() == "[::1]");
  const url zoned = parse_url("tcp://[FE80::1%25eth0]:2375");
  CHECK(zoned.host == "fe80::1%eth0");
  CHECK(zoned.authority() == "[fe80::1]:2375");
  CHECK(zoned.text() == "tcp://[fe80::1%25eth0]:2375");
  CHECK(is_address("fe80::1%eth0"));
  CHECK(is_address("127.0.0.1"));
  CHECK_FALSE(is_address("host"));
}

TEST_CASE("url: what makes no sense is refused, and the account stays out of the message") {
  for (const std::string text : {"host",
                                 "ftp://host",
                                 "http://",
                                 "http:///x",
                                 "http://host:0/",
                                 "http://host:65536/",
                                 "http://host:8x",
                                 "http://[::1",
                                 "http://[::g]/",
                                 "http://[]/",
                                 "http://ho st/",
                                 "http://host\n/",
                                 "http://h%6fst/",
                                 "http://host/a\tb",
                                 "http://host/\r\nX: y",
                                 "unix://",
                                 "npipe:////./pipe/x",
                                 "http://[::1]x/",
                                 "http://[fe80::1%25]/",
                                 "http://[fe80::1%25a/b]/"}) {
    CAPTURE(text);
    CHECK_FALSE(refusal_of(text).empty());
  }
  CHECK(refusal_of("http://me:hidden@ho st/?hidden").find("hidden") == std::string::npos);
  CHECK(refusal_of("http://me:hid%zz@host/").find("hid") == std::string::npos);
}

TEST_CASE("url: signs that cannot be sent are encoded, what is encoded stays") {
  CHECK(parse_url("http://h/ä b%20\"").path == "/%C3%A4%20b%20%22");
  CHECK(percent_encode("a/b c~é") == "a%2Fb%20c~%C3%A9");
  CHECK(percent_encode_path("/a b/c?") == "/a%20b/c%3F");
  CHECK(percent_decode("a%2Fb%20c") == "a/b c");
  CHECK_THROWS_AS(percent_decode("%2"), error);
  CHECK_THROWS_AS(percent_decode("%g0"), error);
  CHECK_THROWS_AS(percent_decode("%-1"), error);
  CHECK(query_builder().add("a b", "1&2").add("c", "").behind("/x") == "/x?a%20b=1%262&c=");
  CHECK(query_builder().behind("/x") == "/x");
}

TEST_CASE("url: references as RFC 3986 resolves them") {
  const url base = parse_url("http://me:pw@a:81/b/c/d;p?q");
  const auto at = [&](std::string_view reference) { return resolve_reference(base, reference).target(); };
  CHECK(at("g") == "/b/c/g");
  CHECK(at("./g/") == "/b/c/g/");
  CHECK(at("/g") == "/g");
  CHECK(at("?y") == "/b/c/d;p?y");
  CHECK(at("g?y#s") == "/b/c/g?y");
  CHECK(at("") == "/b/c/d;p?q");
  CHECK(at(".") == "/b/c/");
  CHECK(at("..") == "/b/");
  CHECK(at("../../../g") == "/g");
  CHECK(at("/./g/../h") == "/h");
  CHECK(resolve_reference(base, "//g:82/x").host == "g");
  CHECK(resolve_reference(base, "//g:82/x").user == std::nullopt);
  CHECK(resolve_reference(base, "https://g").scheme == "https");
  CHECK_THROWS_AS(resolve_reference(base, "javascript:x"), error);
  CHECK_THROWS_AS(resolve_reference(base, "/a\r\nb"), error);
}

TEST_CASE("url: an origin is scheme, host and port") {
  CHECK(parse_url("http://a/x").same_origin(parse_url("http://A:80/y")));
  CHECK_FALSE(parse_url("http://a/").same_origin(parse_url("https://a/")));
  CHECK_FALSE(parse_url("http://a/").same_origin(parse_url("http://a:81/")));
  CHECK_FALSE(parse_url("http://a/").same_origin(parse_url("http://b/")));
}

}  // namespace
}  // namespace berth::http
