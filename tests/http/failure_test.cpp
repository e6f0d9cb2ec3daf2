/// Servers that break off, lie, stall and answer too early.
#include "http/client.hpp"

#include "http/failures.hpp"
#include "http/script_server.hpp"
#include "support/async.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using http::client;
using http::client_options;
using http::request;

/// A script that reads a request's head, writes text and ends in some way.
enum class ending { close, reset, stall };

script_server::script answering(std::string text, ending how) {
  return [text, how](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write(text);
    if (how == ending::stall) (void)co_await peer->read_to_end();
    if (how == ending::reset) peer->reset();
  };
}

const std::string lost = "connection to the place was lost";

ASYNC_TEST("failure: a response that is cut is lost wherever it is cut") {
  const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
  client by(io.get_executor(), direct_options());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    script_server server(io, answering(whole.substr(0, size), ending::close));
    const auto seen = co_await outcome(by, request("GET", server.url("/x?token=hidden")));
    CHECK(seen.brief == "read maybe: " + lost);
    CHECK(seen.message.starts_with("127.0.0.1:" + std::to_string(server.port()) + ": the connection was closed "));
    CHECK(seen.message.find("hidden") == std::string::npos);
  }
}

ASYNC_TEST("failure: chunks that are cut, and a reset") {
  client by(io.get_executor(), direct_options());
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (const std::string body : {"", "5", "5\r\nhel", "5\r\nhello\r\n", "5\r\nhello\r\n0\r\n", "0\r\nTrailer: x\r\n"}) {
    script_server server(io, answering(head + body, ending::close));
    const auto seen = co_await outcome(by, request("GET", server.url("/")));
    CHECK(seen.brief == "read maybe: " + lost);
  }
  script_server server(io, answering("HTTP/1.1 200 OK\r\n\r\nto the en", ending::reset));
  const auto seen = co_await outcome(by, request("GET", server.url("/")));
  CHECK(seen.brief == "read maybe: Connection reset by peer");
}

ASYNC_TEST("failure: single bytes change nothing") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write_slowly("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    co_await peer->write_slowly("3;x\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n");
    (void)co_await peer->read_head();
    co_await peer->write_slowly(response_text("again"));
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto seen = co_await outcome(by, request("GET", server.url("/")));
  CHECK(seen.brief == "200 abcde");
  seen = co_await outcome(by, request("GET", server.url("/")));
  CHECK(seen.brief == "200 again");
  CHECK(server.connections() == 1);
}

ASYNC_TEST("failure: nonsense is a violation of the protocol, and what follows it is never believed") {
  client by(io.get_executor(), direct_options());
  for (const std::string text :
       {"SSH-2.0-x\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"}) {
    script_server server(io, answering(text, ending::stall));
    const auto seen = co_await outcome(by, request("GET", server.url("/")));
    CHECK(seen.brief == "protocol maybe: protocol violated");
  }
  CHECK(by.idle_connections() == 0);
  script_server server(io, answering(response_text("one") + response_text("two"), ending::stall));
  const auto seen = co_await outcome(by, request("GET", server.url("/")));
  CHECK(seen.brief == "200 one");
  CHECK(by.idle_connections() == 0);
}

ASYNC_TEST("failure: a deadline says how far the request had come") {
  client by(io.get_executor(), direct_options());
  script_server silent(io, answering("", ending::stall));
  auto seen = co_await outcome(by, request("GET", silent.url("/")).timeout(300ms));
  CHECK(seen.brief == "read maybe: timed out");
  CHECK(seen.message.find("no response within 300 ms, in phase read") != std::string::npos);
  script_server half(io, answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", ending::stall));
  seen = co_await outcome(by, request("GET", half.url("/")).timeout(300ms));
  CHECK(seen.brief == "read maybe: timed out");
}

ASYNC_TEST("failure: a body that stalls ends with the idle timeout, unless it is switched off") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write("HTTP/1.1 200 OK\r\n\r\nab");
    co_await pause_for(150ms);
    co_await peer->write("cd");
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto stream = co_await by.open(request("GET", server.url("/")).idle_timeout(30ms));
  std::string got = co_await stream->next();
  failure seen;
  try {
    got += co_await stream->next();
  } catch (const http::http_error& failed) {
    seen = described(failed);
  }
  CHECK(got == "ab");
  CHECK(seen.brief == "read maybe: timed out");
  stream = co_await by.open(request("GET", server.url("/")).idle_timeout(0ms));
  const std::string all = co_await stream->rest(100);
  CHECK(all == "abcd");
}

/// Gives a piece now and then.
class slow_source final : public byte_source {
 public:
  explicit slow_source(int pieces) : pieces_(pieces) {}
  task<std::string> next() override { return give(--pieces_ >= 0); }

 private:
  static task<std::string> give(bool more) {
    co_await pause_for(20ms);
    co_return more ? std::string(100, 'x') : std::string();
  }
  int pieces_;
};

ASYNC_TEST("failure: an upload that moves is not idle") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_until("0\r\n\r\n");
    co_await peer->write(response_text("done"));
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto what =
      request("PUT", server.url("/")).body(std::make_unique<slow_source>(100), std::nullopt, "").idle_timeout(1500ms);
  const auto seen = co_await outcome(by, std::move(what));
  CHECK(seen.brief == "200 done");
}

ASYNC_TEST("failure: an upload in one piece that the server takes slowly is not idle either") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    for (int i = 0; i < 40; ++i) {
      (void)co_await peer->read_bytes(500'000);
      co_await pause_for(20ms);
    }
    co_await peer->write(response_text("done"));
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto what = request("PUT", server.url("/")).body(std::string(20'000'000, 'x'), "").idle_timeout(400ms);
  const auto seen = co_await outcome(by, std::move(what));
  CHECK(seen.brief == "200 done");
}

ASYNC_TEST("failure: an upload that the server does not take is idle") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await pause_for(1s);
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto what = request("PUT", server.url("/")).body(std::string(20'000'000, 'x'), "").idle_timeout(100ms);
  const auto seen = co_await outcome(by, std::move(what));
  CHECK(seen.brief == "read maybe: timed out");
  CHECK(seen.message.find("no byte for 100 ms") != std::string::npos);
}

class endless_source final : public byte_source {
 public:
  task<std::string> next() override { return give(); }

 private:
  static task<std::string> give() { co_return std::string(100'000, 'x'); }
};

class failing_source final : public byte_source {
 public:
  explicit failing_source(errc code) : code_(code) {}
  task<std::string> next() override { return fail(code_); }

 private:
  static task<std::string> fail(errc code) {
    co_await pause_for(1ms);
    throw error(code, "the file is gone");
  }
  errc code_;
};

task<failure> put_from(client& by, std::string where, std::unique_ptr<byte_source> source,
                       std::optional<std::uint64_t> size) {
  auto what = request("PUT", std::move(where)).body(std::move(source), size, "");
  co_return co_await outcome(by, std::move(what));
}

ASYNC_TEST("failure: a server that answers in the middle of an upload and closes is heard") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    (void)co_await peer->read_bytes(1000);
    co_await peer->write(response_text("rootfs is marked read-only", "", "500 Internal Server Error"));
    co_await pause_for(20ms);
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto seen =
      co_await outcome(by, request("PUT", server.url("/")).body(std::make_unique<endless_source>(), std::nullopt, ""));
  CHECK(seen.brief == "500 rootfs is marked read-only");
  seen = co_await outcome(by, request("PUT", server.url("/")).body(std::string(30'000'000, 'x'), ""));
  CHECK(seen.brief == "500 rootfs is marked read-only");
  CHECK(by.idle_connections() == 0);
}

ASYNC_TEST("failure: one that refuses and goes on listening is not sent the rest") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write(response_text("too large", "", "413 Too Large"));
    (void)co_await peer->read_to_end();
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  const auto seen =
      co_await outcome(by, request("PUT", server.url("/")).body(std::make_unique<endless_source>(), std::nullopt, ""));
  CHECK(seen.brief == "413 too large");
}

ASYNC_TEST("failure: an upload that is cut without an answer says so") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    peer->reset();
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  const auto seen =
      co_await outcome(by, request("PUT", server.url("/")).body(std::make_unique<endless_source>(), std::nullopt, ""));
  CHECK((seen.brief.starts_with("write maybe: ") || seen.brief.starts_with("read maybe: ")));
}

ASYNC_TEST("failure: the error of a body's source comes out, and a wrong size is one") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> { (void)co_await peer->read_to_end(); };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto seen = co_await put_from(by, server.url("/"), std::make_unique<failing_source>(errc::not_found), std::nullopt);
  CHECK(seen.message == "the file is gone: not found");
  seen = co_await put_from(by, server.url("/"), std::make_unique<failing_source>(errc::timeout), std::nullopt);
  CHECK(seen.message == "the file is gone: timed out");
  seen = co_await put_from(by, server.url("/"), std::make_unique<slow_source>(3), 250);
  CHECK(seen.brief == "protocol violated");
  seen = co_await put_from(by, server.url("/"), std::make_unique<slow_source>(3), 350);
  CHECK(seen.brief == "protocol violated");
}

ASYNC_TEST("failure: a kept connection that was closed meanwhile costs a safe request nothing, and others an error") {
  // Closes a connection as soon as the second request on it has come.
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write(response_text("ok"));
    (void)co_await peer->read_head();
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  auto seen = co_await outcome(by, request("GET", server.url("/")));
  CHECK(seen.brief == "200 ok");
  seen = co_await outcome(by, request("GET", server.url("/")));
  CHECK(seen.brief == "200 ok");
  CHECK(server.connections() == 2);
  seen = co_await outcome(by, request("POST", server.url("/")).body("x", ""));
  CHECK(seen.brief == "read maybe: " + lost);
  CHECK(server.connections() == 2);
}

ASYNC_TEST("failure: one that closed a kept connection before the request is noticed, whatever the method") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await peer->write(response_text("ok"));
    co_await pause_for(5ms);
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  for (int i = 0; i < 5; ++i) {
    const auto seen = co_await outcome(by, request("POST", server.url("/")));
    CHECK(seen.brief == "200 ok");
    co_await pause_for(30ms);
  }
  CHECK(server.connections() == 5);
}

ASYNC_TEST("failure: nobody listens") {
  client by(io.get_executor(), direct_options());
  std::string url;
  {
    script_server server(io, answering("", ending::close));
    url = server.url("/x?hidden");
  }
  const auto seen = co_await outcome(by, request("POST", url));
  CHECK(seen.brief == "connect never: Connection refused");
  CHECK(seen.message.find("127.0.0.1: Connection refused") != std::string::npos);
  CHECK(seen.message.find("hidden") == std::string::npos);
}

ASYNC_TEST("failure: cancelled at every point, nothing is left") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await pause_for(5ms);
    co_await peer->write_slowly("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc");
    (void)co_await peer->read_to_end();
  };
  script_server server(io, script);
  client by(io.get_executor(), direct_options());
  for (int delay = 0; delay < 30; ++delay) {
    auto what = request("PUT", server.url("/")).body(std::make_unique<endless_source>(), std::nullopt, "");
    running one(io.get_executor(), by.send(std::move(what)));
    for (int i = 0; i < delay; ++i) co_await pause_for(500us);
    one.cancel();
    std::error_code code;
    try {
      (void)co_await one.result();
    } catch (const std::system_error& failed) {
      code = failed.code();
    }
    CHECK(is_cancelled(code));
  }
}

ASYNC_TEST("failure: the client may go before its requests and streams") {
  const auto script = [](script_peer_ptr peer, int) -> task<void> {
    (void)co_await peer->read_head();
    co_await pause_for(20ms);
    co_await peer->write(response_text("late"));
    (void)co_await peer->read_head();
  };
  script_server server(io, script);
  std::unique_ptr<http::response_stream> stream;
  {
    auto by = std::make_unique<client>(io.get_executor(), direct_options());
    stream = co_await by->open(request("GET", server.url("/")));
    running late(io.get_executor(), by->send(request("GET", server.url("/"))));
    co_await pause_for(1ms);
    by.reset();
    const auto got = co_await late.result();
    CHECK(got.body() == "late");
  }
  const std::string all = co_await stream->rest(100);
  CHECK(all == "late");
}

}  // namespace
}  // namespace berth::test
