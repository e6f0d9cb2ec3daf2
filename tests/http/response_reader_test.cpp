#include "http/response_reader.hpp"

#include "http/http_error.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace berth::http {
namespace {

using event = response_reader::event;

/// What a stream of bytes is read as: "103 200 body|end rest", or the code of the error.
std::string reading(std::string_view method, std::string_view bytes, std::size_t first, std::size_t others,
                    bool ends = false) {
  response_reader reader(method);
  std::string seen;
  std::string body;
  std::size_t at = 0;
  try {
    for (;;) {
      const event found = reader.next();
      if (found == event::need_more) {
        if (at == bytes.size() && !ends) return seen + body + " more";
        if (at == bytes.size()) reader.finish();
        const std::size_t piece = at == 0 ? first : others;
        reader.feed(bytes.substr(at, piece));
        at += std::min(piece, bytes.size() - at);
      } else if (found == event::interim || found == event::head) {
        seen += std::to_string(reader.head().status) + ' ';
      } else if (found == event::body) {
        body += reader.take_body();
      } else {
        const char* again = reader.reusable() ? " again" : " close";
        std::string rest = reader.take_rest() + std::string(bytes.substr(at));
        for (const auto& each : reader.trailers()) body += '{' + each.name + '=' + each.value + '}';
        return seen + body + again + (rest.empty() ? "" : " rest:" + rest);
      }
    }
  } catch (const http_error& failed) {
    CHECK(failed.may_have_arrived());
    return seen + "error:" + failed.code().message();
  }
}

/// The same whatever pieces the bytes come in. A connection whose rest was not read yet cannot know that it is not reusable.
std::string read_as(std::string_view method, std::string_view bytes, bool ends = false) {
  const std::size_t all = bytes.size() + 1;
  const std::string whole = reading(method, bytes, all, all, ends);
  const auto check = [&](std::size_t first, std::size_t others) {
    std::string other = reading(method, bytes, first, others, ends);
    if (const auto at = other.find(" again rest:"); at != std::string::npos) other.replace(at, 6, " close");
    CAPTURE(first);
    CHECK(other == whole);
  };
  for (const std::size_t piece : {1, 2, 3, 7}) check(piece, piece);
  for (std::size_t place = 1; place < bytes.size() && bytes.size() < 1000; ++place) check(place, all);
  return whole;
}

const std::string ok_line = "HTTP/1.1 200 OK\r\n";

TEST_CASE("response: bodies with a length, in chunks, and to the end") {
  CHECK(read_as("GET", ok_line + "Content-Length: 5\r\n\r\nhello") == "200 hello again");
  CHECK(read_as("GET", ok_line + "Content-Length: 0\r\n\r\n") == "200  again");
  CHECK(read_as("GET", ok_line + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=\"y;z\";w\r\nde\r\n0\r\n\r\n") ==
        "200 abcde again");
  CHECK(read_as("GET", ok_line + "transfer-encoding: Chunked\r\n\r\n1\r\na\r\n0\r\nT: 1\r\nU: 2\r\n\r\n") ==
        "200 a{T=1}{U=2} again");
  CHECK(read_as("GET", ok_line + "\r\nto the end", true) == "200 to the end close");
  CHECK(read_as("GET", ok_line + "\r\n", true) == "200  close");
}

TEST_CASE("response: those without a body") {
  CHECK(read_as("HEAD", ok_line + "Content-Length: 5\r\n\r\n") == "200  again");
  CHECK(read_as("HEAD", ok_line + "Transfer-Encoding: chunked\r\n\r\n") == "200  again");
  CHECK(read_as("GET", "HTTP/1.1 204 No Content\r\n\r\n") == "204  again");
  CHECK(read_as("GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n") == "304  again");
  CHECK(read_as("DELETE", "HTTP/1.1 204 \r\n\r\n") == "204  again");
}

TEST_CASE("response: interim answers come before the real one, and 101 is the last") {
  CHECK(read_as("GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok_line +
                           "Content-Length: 1\r\n\r\na") == "100 103 200 a again");
  CHECK(read_as("POST", "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nraw bytes") ==
        "101  close rest:raw bytes");
  CHECK(read_as("CONNECT", ok_line + "Content-Length: 5\r\n\r\nraw") == "200  close rest:raw");
  CHECK(read_as("CONNECT", "HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno") == "407 no again");
  std::string many;
  for (int i = 0; i < 17; ++i) many += "HTTP/1.1 100 Continue\r\n\r\n";
  CHECK(read_as("GET", many).ends_with("error:limit exceeded"));
}

TEST_CASE("response: a connection is used again only where that is safe") {
  CHECK(read_as("GET", ok_line + "Connection: close\r\nContent-Length: 1\r\n\r\na") == "200 a close");
  CHECK(read_as("GET", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na") == "200 a close");
  CHECK(read_as("GET", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na") == "200 a again");
  CHECK(read_as("GET", ok_line + "Content-Length: 1\r\n\r\naHTTP/1.1 200") == "200 a close rest:HTTP/1.1 200");
  CHECK(read_as("GET", "HTTP/1.1 304 x\r\nContent-Length: 2\r\n\r\nab") == "304  close rest:ab");
}

TEST_CASE("response: too short is lost, never a whole one") {
  CHECK(read_as("GET", "", true) == "error:connection to the place was lost");
  CHECK(read_as("GET", "HTTP/1.1 2", true) == "error:connection to the place was lost");
  CHECK(read_as("GET", ok_line + "Content-Length: 5\r\n\r\nhell", true) ==
        "200 error:connection to the place was lost");
  CHECK(read_as("GET", ok_line + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", true) ==
        "200 error:connection to the place was lost");
  CHECK(read_as("GET", ok_line + "Transfer-Encoding: chunked\r\n\r\n0\r\n", true) ==
        "200 error:connection to the place was lost");
  CHECK(read_as("GET", "HTTP/1.1 100 Continue\r\n\r\n", true) == "100 error:connection to the place was lost");
}

TEST_CASE("response: what could hide a second response is refused") {
  const std::vector<std::string> heads = {
      "Content-Length: 5\r\nContent-Length: 6\r\n",
      "Content-Length: 5\r\nContent-Length: 5\r\n",
      "Content-Length: 5, 5\r\n",
      "Content-Length: -5\r\n",
      "Content-Length: +5\r\n",
      "Content-Length: 0x5\r\n",
      "Content-Length:\r\n",
      "Content-Length: 5x\r\n",
      "Content-Length: 99999999999999999999999\r\n",
      "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n",
      "Transfer-Encoding: gzip, chunked\r\n",
      "Transfer-Encoding: chunked, gzip\r\n",
      "Transfer-Encoding: gzip\r\n",
      "Transfer-Encoding: identity\r\n",
      "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
      "Transfer-Encoding: xchunked\r\n",
      "Transfer-Encoding : chunked\r\n",
      "Bad Name: x\r\n",
      ": x\r\n",
      "X: a\nY: b\r\n",
      "X: a\rb\r\n",
      std::string("X: a\0b\r\n", 8),
  };
  for (const auto& each : heads) {
    CAPTURE(each);
    CHECK(read_as("GET", ok_line + each + "\r\nhello").find("error:protocol") != std::string::npos);
  }
}

TEST_CASE("response: lines that are none are refused") {
  for (const std::string line :
       {"HTTP/2.0 200 OK", "HTTP/1.2 200 OK", "http/1.1 200 OK", "HTTP/1.1 20 OK", "HTTP/1.1 2000 OK",
        "HTTP/1.1  200 OK", "HTTP/1.1 099 OK", "ICY 200 OK", "\x16\x03\x01\x02", "SSH-2.0-OpenSSH_9.2"}) {
    CAPTURE(line);
    CHECK(read_as("GET", line + "\r\n\r\n").find("error:protocol") != std::string::npos);
  }
}

TEST_CASE("response: chunks that are none are refused") {
  const std::string head = ok_line + "Transfer-Encoding: chunked\r\n\r\n";
  for (const std::string body :
       {"x\r\n", "-1\r\n", "\r\n", "1\nab", "1\r\nabc\r\n", "11111111111111111\r\n", " 1\r\na\r\n", "0x1\r\na\r\n",
        "0\r\nContent-Length: 5\r\n\r\n", "0\r\nbad trailer\r\n\r\n"}) {
    CAPTURE(body);
    CHECK(read_as("GET", head + body + "\r\n\r\n").find("error:protocol") != std::string::npos);
  }
}

TEST_CASE("response: bounds of heads, lines between chunks and trailers") {
  const std::string large(70'000, 'x');
  CHECK(read_as("GET", ok_line + "X: " + large + "\r\n\r\n") == "error:limit exceeded");
  CHECK(read_as("GET", "HTTP/1.1 200 " + large + "\r\n\r\n") == "error:limit exceeded");
  std::string many = ok_line;
  for (int i = 0; i < 7000; ++i) many += "X: 12345678\r\n";
  CHECK(read_as("GET", many + "\r\n") == "error:limit exceeded");
  const std::string chunked = ok_line + "Transfer-Encoding: chunked\r\n\r\n";
  CHECK(read_as("GET", chunked + "1;x=" + large + "\r\na\r\n") == "200 error:limit exceeded");
  CHECK(read_as("GET", chunked + "0\r\nT: " + large + "\r\n\r\n") == "200 error:limit exceeded");
  CHECK(read_as("GET", ok_line + "X: " + large.substr(0, 60'000) + "\r\nContent-Length: 0\r\n\r\n") == "200  again");
}

TEST_CASE("response: large bodies pass through in pieces") {
  response_reader reader("GET");
  reader.feed(ok_line + "Content-Length: 1000000\r\n\r\n");
  CHECK(reader.next() == event::head);
  CHECK(reader.content_length() == 1'000'000u);
  std::size_t got = 0;
  for (int i = 0; i < 100; ++i) {
    reader.feed(std::string(10'000, 'x'));
    CHECK(reader.next() == event::body);
    got += reader.take_body().size();
  }
  CHECK(got == 1'000'000);
  CHECK(reader.next() == event::end);
  CHECK(reader.next() == event::end);
}

TEST_CASE("response: an error stays") {
  response_reader reader("GET");
  reader.feed("nonsense\r\n\r\n");
  CHECK_THROWS_AS(reader.next(), http_error);
  reader.feed(ok_line + "Content-Length: 0\r\n\r\n");
  CHECK_THROWS_AS(reader.next(), http_error);
}

}  // namespace
}  // namespace berth::http
