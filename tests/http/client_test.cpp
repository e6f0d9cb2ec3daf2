#include "http/client.hpp"

#include "http/failures.hpp"
#include "http/script_server.hpp"
#include "support/async.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <string>
#include <vector>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using http::client;
using http::client_options;
using http::request;

/// Answers each request of a connection with its own head.
task<void> echo(script_peer_ptr peer, int) {
  for (;;) {
    const std::string head = co_await peer->read_head();
    if (head.empty()) co_return;
    const auto at = head.find("Content-Length: ");
    std::string body;
    if (at != std::string::npos) body = co_await peer->read_bytes(std::stoul(head.substr(at + 16)));
    co_await peer->write(response_text(head + body));
  }
}

ASYNC_TEST("client: a request is what it was said to be") {
  script_server server(io, echo);
  client by(io.get_executor(), direct_options());
  auto got =
      co_await by.send(request("POST", server.url("/a%20b?c=d")).header("X-One", "1").body("{}", "application/json"));
  const std::string host = "127.0.0.1:" + std::to_string(server.port());
  CHECK(got.status() == 200);
  CHECK(got.body() ==
        "POST /a%20b?c=d HTTP/1.1\r\nHost: " + host +
            "\r\nX-One: 1\r\nContent-Type: application/json\r\nUser-Agent: berth\r\nContent-Length: 2\r\n\r\n{}");
}

ASYNC_TEST("client: one connection serves one request after the other") {
  script_server server(io, echo);
  client by(io.get_executor(), direct_options());
  for (int i = 0; i < 20; ++i) (void)co_await by.send(request("GET", server.url("/")));
  CHECK(server.connections() == 1);
  CHECK(by.idle_connections() == 1);
}

ASYNC_TEST("client: no more connections to a host than allowed, and nobody is forgotten") {
  script_server server(io, echo);
  client_options options = direct_options();
  options.pool.per_host = 3;
  client by(io.get_executor(), options);
  std::vector<running<http::response>> all;
  for (int i = 0; i < 40; ++i) all.emplace_back(io.get_executor(), by.send(request("GET", server.url("/"))));
  for (auto& each : all) {
    const auto got = co_await each.result();
    CHECK(got.status() == 200);
  }
  CHECK(server.connections() == 3);
}

ASYNC_TEST("client: who gives up in the queue leaves his turn to the next") {
  const auto slow = [](script_peer_ptr peer, int) -> task<void> {
    for (;;) {
      const std::string head = co_await peer->read_head();
      if (head.empty()) co_return;
      if (head.find("/slow") != std::string::npos) (void)co_await peer->read_head();
      co_await peer->write(response_text("x"));
    }
  };
  script_server server(io, slow);
  client_options options = direct_options();
  options.pool.per_host = 1;
  client by(io.get_executor(), options);
  running first(io.get_executor(), by.send(request("GET", server.url("/slow"))));
  running second(io.get_executor(), by.send(request("GET", server.url("/"))));
  running third(io.get_executor(), by.send(request("GET", server.url("/"))));
  co_await pause_for(20ms);
  second.cancel();
  first.cancel();
  const auto got = co_await third.result();
  CHECK(got.body() == "x");
}

ASYNC_TEST("client: idle connections are closed after their time") {
  script_server server(io, echo);
  client_options options = direct_options();
  options.pool.idle = 50ms;
  client by(io.get_executor(), options);
  (void)co_await by.send(request("GET", server.url("/")));
  CHECK(by.idle_connections() == 1);
  const auto none = [&] { return by.idle_connections() == 0; };
  const bool closed = co_await becomes_true(none);
  CHECK(closed);
}

ASYNC_TEST("client: interim answers, HEAD, 204 and trailers") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + response_text("one"));
    (void)co_await peer->read_head();
    co_await peer->write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    (void)co_await peer->read_head();
    co_await peer->write("HTTP/1.1 204 No Content\r\n\r\n");
    (void)co_await peer->read_head();
    co_await peer->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\nSum: 5\r\n\r\n");
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  const auto first = co_await by.send(request("GET", server.url("/")));
  CHECK(first.body() == "one");
  const auto head = co_await by.send(request("HEAD", server.url("/")));
  CHECK(head.fields().find("content-length") == "100000000");
  const auto none = co_await by.send(request("DELETE", server.url("/")));
  CHECK(none.status() == 204);
  const auto last = co_await by.send(request("GET", server.url("/")));
  CHECK(last.body() == "abc");
  CHECK(last.trailers().find("sum") == "5");
  CHECK(server.connections() == 1);
}

/// A source that counts what was taken of it.
class counting_source final : public byte_source {
 public:
  counting_source(std::string piece, int pieces, std::shared_ptr<int> taken)
      : piece_(std::move(piece)), pieces_(pieces), taken_(std::move(taken)) {}
  task<std::string> next() override { return give(pieces_-- > 0 ? piece_ : std::string(), taken_); }

 private:
  static task<std::string> give(std::string piece, std::shared_ptr<int> taken) {
    ++*taken;
    co_return piece;
  }
  std::string piece_;
  int pieces_;
  std::shared_ptr<int> taken_;
};

ASYNC_TEST("client: a stream as body, with a size and in chunks") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    const std::string sized = co_await peer->read_bytes(30);
    co_await peer->write(response_text(sized));
    const std::string head = co_await peer->read_head();
    const std::string chunks = co_await peer->read_until("0\r\n\r\n");
    CHECK(head.find("Transfer-Encoding: chunked") != std::string::npos);
    co_await peer->write(response_text(chunks));
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  const auto taken = std::make_shared<int>(0);
  auto source = std::make_unique<counting_source>("0123456789", 3, taken);
  auto got = co_await by.send(request("PUT", server.url("/")).body(std::move(source), 30, "x/y"));
  CHECK(got.body() == "012345678901234567890123456789");
  source = std::make_unique<counting_source>("abc", 2, taken);
  got = co_await by.send(request("PUT", server.url("/")).body(std::move(source), std::nullopt, ""));
  CHECK(got.body() == "3\r\nabc\r\n3\r\nabc\r\n0\r\n\r\n");
  CHECK(server.connections() == 1);
}

ASYNC_TEST_FOR("client: a receiver that does not read holds the source back, and the other way round", 60s) {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    const std::string head = co_await peer->read_head();
    if (head.starts_with("PUT")) {
      co_await pause_for(300ms);
      (void)co_await peer->read_until("\r\n0\r\n\r\n");
      co_await peer->write(response_text("done"));
      (void)co_await peer->read_head();
    }
    co_await peer->write("HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n");
    for (int i = 0; i < 100; ++i) co_await peer->write(std::string(1'000'000, 'x'));
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  const auto taken = std::make_shared<int>(0);
  auto source = std::make_unique<counting_source>(std::string(100'000, 'x'), 300, taken);
  running upload(io.get_executor(), by.send(request("PUT", server.url("/")).body(std::move(source), std::nullopt, "")));
  co_await pause_for(200ms);
  CHECK(*taken < 150);
  const auto done = co_await upload.result();
  CHECK(done.body() == "done");
  CHECK(*taken == 301);

  auto download = co_await by.open(request("GET", server.url("/")));
  co_await pause_for(100ms);
  std::size_t bytes = 0;
  for (std::string piece = co_await download->next(); !piece.empty(); piece = co_await download->next()) {
    CHECK(piece.size() <= 64 * 1024);
    bytes += piece.size();
  }
  CHECK(bytes == 100'000'000);
}

ASYNC_TEST("client: a stream that is dropped before its end closes its connection") {
  const auto closed = std::make_shared<bool>(false);
  const auto script = [closed](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc");
    (void)co_await peer->read_to_end();
    *closed = true;
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  {
    auto stream = co_await by.open(request("GET", server.url("/")));
    const std::string piece = co_await stream->next();
    CHECK(piece == "abc");
    CHECK_FALSE(*closed);
  }
  CHECK(by.idle_connections() == 0);
  const auto seen = [&] { return *closed; };
  const bool ended = co_await becomes_true(seen);
  CHECK(ended);
}

ASYNC_TEST("client: a body beyond its limit is refused, with a length and without") {
  const auto script = [](script_peer_ptr peer, int number) -> task<void> {
    (void)co_await peer->read_head();
    if (number == 0) co_await peer->write(response_text("12345"));
    if (number == 1) co_await peer->write("HTTP/1.1 200 OK\r\n\r\n12345");
    if (number == 2) co_await peer->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n12345\r\n");
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  for (int i = 0; i < 3; ++i) {
    const auto seen = co_await outcome(by, request("GET", server.url("/")).body_limit(4));
    CHECK(seen.brief == "read maybe: limit exceeded");
  }
}

ASYNC_TEST("client: the server is asked before a body is sent") {
  const auto script = [](script_peer_ptr peer, int number) -> task<void> {
    const std::string head = co_await peer->read_head();
    CHECK(head.find("Expect: 100-continue\r\n") != std::string::npos);
    if (number == 0) {
      co_await peer->write("HTTP/1.1 100 Continue\r\n\r\n");
      const std::string body = co_await peer->read_bytes(4);
      co_await peer->write(response_text(body));
    } else if (number == 1) {
      co_await peer->write(response_text("no", "", "413 Too Large"));
      const std::string nothing = co_await peer->read_to_end();
      CHECK(nothing.empty());
    } else {
      const std::string unasked = co_await peer->read_bytes(4);
      co_await peer->write(response_text(unasked, "Connection: close\r\n"));
    }
    peer->close();
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  for (const std::string expected : {"200 body", "413 no", "200 body"}) {
    const auto seen = co_await outcome(by, request("PUT", server.url("/")).body("body", "").expect_continue());
    CHECK(seen.brief == expected);
  }
}

ASYNC_TEST("client: redirects of GET, within a limit, and of nothing else") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    for (;;) {
      const std::string head = co_await peer->read_head();
      if (head.empty()) co_return;
      if (head.find(" /end ") != std::string::npos)
        co_await peer->write(response_text(head));
      else if (head.find(" /loop ") != std::string::npos)
        co_await peer->write(response_text("again", "Location: /loop\r\n", "302 Found"));
      else
        co_await peer->write(response_text("moved", "Location: ../end\r\n", "301 Moved"));
    }
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto got = co_await by.send(request("GET", server.url("/a/b")).header("Authorization", "Bearer x"));
  CHECK(got.body().starts_with("GET /end "));
  CHECK(got.body().find("Bearer x") != std::string::npos);
  auto seen = co_await outcome(by, request("GET", server.url("/loop")));
  CHECK(seen.brief == "protocol maybe: limit exceeded");
  seen = co_await outcome(by, request("GET", server.url("/loop")).redirects(0));
  CHECK(seen.brief == "302 again");
  seen = co_await outcome(by, request("POST", server.url("/a/b")).body("x", ""));
  CHECK(seen.brief == "301 moved");
  seen = co_await outcome(by, request("GET", server.url("/a/b")).body("x", ""));
  CHECK(seen.brief == "301 moved");
}

ASYNC_TEST("client: a redirect to another server takes no credentials along") {
  script_server other(io, echo);
  const std::string location = "Location: " + other.url("/end") + "\r\n";
  const auto script = [location](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write(response_text("", location, "307 Temporary"));
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto what = request("GET", server.url("/"))
                  .header("Authorization", "Bearer x")
                  .header("X-Api-Key", "k")
                  .header("Accept", "a/b");
  what.header("Cookie", "c=d");
  const auto got = co_await by.send(std::move(what));
  CHECK(got.body().find("Accept: a/b") != std::string::npos);
  CHECK(got.body().find("Bearer") == std::string::npos);
  CHECK(got.body().find("X-Api-Key") == std::string::npos);
  CHECK(got.body().find("Cookie") == std::string::npos);
}

ASYNC_TEST("client: an upgraded connection begins with what came behind the head, and closes one way at a time") {
  const auto script = [](script_peer_ptr peer, int number) -> task<void> {
    const std::string head = co_await peer->read_head();
    CHECK(head.find("Connection: Upgrade\r\nUpgrade: tcp\r\n") != std::string::npos);
    (void)co_await peer->read_bytes(2);
    if (number == 0) co_await peer->write("HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly ");
    if (number == 1)
      co_await peer->write("HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\nearly ");
    if (number == 2) co_await peer->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nearly \r\n");
    if (number == 3) co_await peer->write(response_text("no such container", "", "404 Not Found"));
    const std::string sent = co_await peer->read_to_end();
    co_await pause_for(60ms);  // the idle timeout holds no more
    if (number == 2) co_await peer->write("5\r\nlate:\r\n4\r\n" + sent + "\r\n0\r\n\r\n");
    if (number < 2) co_await peer->write("late:" + sent);
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  for (int number = 0; number < 3; ++number) {
    const auto got = co_await by.upgrade(
        request("POST", server.url("/exec")).body("{}", "application/json").idle_timeout(20ms), "tcp");
    REQUIRE(got.stream());
    co_await got.stream()->write("sent");
    co_await got.stream()->shutdown_write();
    std::string all;
    char buffer[3];
    for (;;) {
      const std::span<char> into(buffer);
      const std::size_t n = co_await got.stream()->read(into);
      if (n == 0) break;
      all.append(buffer, n);
    }
    CHECK(all == "early late:sent");
  }
  const auto refused = co_await by.upgrade(request("POST", server.url("/exec")).body("{}", ""), "tcp");
  CHECK_FALSE(refused.stream());
  CHECK(refused.status() == 404);
  CHECK(refused.refusal() == "no such container");
}

ASYNC_TEST("client: upgraded connections take no place of the pool") {
  const auto script = [](script_peer_ptr peer, int number) -> task<void> {
    (void)co_await peer->read_head();
    if (number % 2 == 0) co_await peer->write("HTTP/1.1 101 UPGRADED\r\n\r\n");
    if (number % 2 == 1) co_await peer->write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    (void)co_await peer->read_to_end();
  };
  script_server server(io, script);
  client_options options = direct_options();
  options.pool.per_host = 1;
  client by(io.get_executor(), options);
  std::vector<http::stream_ptr> all;
  for (int i = 0; i < 6; ++i) {
    const auto got = co_await by.upgrade(request("POST", server.url("/")), "tcp");
    all.push_back(got.stream());
    CHECK(all.back());
  }
  CHECK(server.connections() == 6);
}

}  // namespace
}  // namespace berth::test
