/// What daemons and proxies between do to a request: versions, upgrades, and bytes behind a head.
#include "docker/attached_channel.hpp"
#include "docker/container.hpp"
#include "http/script_server.hpp"
#include "support/async.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;

namespace {

std::string ping_of(const std::string& version) {
  return "HTTP/1.1 200 OK\r\nApi-Version: " + version + "\r\nContent-Length: 2\r\n\r\nOK";
}

std::string frame(std::string_view bytes) {
  std::string made("\x01\0\0\0\0\0\0", 7);
  made += static_cast<char>(bytes.size());
  return made + std::string(bytes);
}

/// A daemon that greets, and answers an attach as it is told; what it was asked is kept.
struct false_daemon {
  false_daemon(asio::io_context& io, std::string v, std::string a)
      : version(std::move(v)),
        answer(std::move(a)),
        server(io, [this](script_peer_ptr peer, int) { return serve(this, std::move(peer)); }) {}

  static task<void> serve(false_daemon* self, script_peer_ptr peer) {
    for (;;) {
      const std::string head = co_await peer->read_head();
      if (head.empty()) co_return;
      self->asked += head;
      const bool is_ping = head.find("/_ping") != head.npos;
      std::string reply = self->answer;
      if (is_ping) reply = ping_of(self->version);
      co_await peer->write(std::move(reply));
      if (is_ping) continue;
      (void)co_await peer->read_to_end();
      co_return;
    }
  }

  std::vector<daemon_address> address() const {
    return {daemon_address{"tcp://127.0.0.1:" + std::to_string(server.port()), "the test", std::nullopt}};
  }

  std::string version;
  std::string answer;
  std::string asked;
  script_server server;
};

/// What comes to the resident's channel over an attach that is answered so.
task<std::string> attached_bytes(asio::io_context& io, std::string answer) {
  false_daemon daemon(io, "1.41", std::move(answer));
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon.address());
  const container box(engine, "some-id");
  http::stream_ptr stream = co_await box.attach();
  CHECK(daemon.asked.find("Upgrade: tcp\r\n") != std::string::npos);
  CHECK(daemon.asked.find("Content-Length: 0\r\n") != std::string::npos);
  const auto channel = make_attached_channel(io.get_executor(), std::move(stream), logger());
  std::string all;
  fd_inbox inbox;
  char bytes[256];
  while (all.size() < 5) {
    const std::size_t n = co_await channel->read(bytes, inbox);
    if (n == 0) break;
    all.append(bytes, n);
  }
  channel->close();
  co_return all;
}

}  // namespace

ASYNC_TEST(
    "wire: bytes in the same piece as the head of an upgrade are the first of the stream, and empty frames nothing") {
  const std::string head = "HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n";
  auto asking = attached_bytes(io, head + frame("") + frame("he") + frame("") + frame("llo"));
  const std::string all = co_await std::move(asking);
  CHECK(all == "hello");
}

ASYNC_TEST("wire: a proxy that makes 200 of 101 is borne, with raw bytes and with chunks") {
  const std::string text = frame("hello");
  auto raw = attached_bytes(io, "HTTP/1.1 200 OK\r\nContent-Type: application/vnd.docker.raw-stream\r\n\r\n" + text);
  const std::string first = co_await std::move(raw);
  CHECK(first == "hello");
  const std::string chunk = "d\r\n" + text + "\r\n";
  auto chunked = attached_bytes(io, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk);
  const std::string second = co_await std::move(chunked);
  CHECK(second == "hello");
}

ASYNC_TEST("wire: a proxy that refuses the upgrade is told with its words") {
  false_daemon daemon(io, "1.41", "HTTP/1.1 403 Forbidden\r\nContent-Length: 16\r\n\r\nnot through here");
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon.address());
  const container box(engine, "some-id");
  std::string message;
  try {
    co_await box.attach();
  } catch (const error& failure) {
    CHECK(failure.code() == errc::permission_denied);
    message = failure.what();
  }
  CHECK(message.find("not through here") != message.npos);
}

ASYNC_TEST("wire: an answer that leads elsewhere is a failure, and nobody goes there") {
  const std::string answer = "HTTP/1.1 307 Elsewhere\r\nLocation: /v1.41/info\r\nContent-Length: 0\r\n\r\n";
  false_daemon daemon(io, "1.41", answer);
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon.address());
  const container box(engine, "some-id");
  errc code{};
  try {
    co_await box.upload("/", "bytes");
  } catch (const error& failure) {
    if (failure.code() == errc::protocol) code = errc::protocol;
  }
  CHECK(code == errc::protocol);
  CHECK(daemon.asked.find("/info") == std::string::npos);
  false_daemon other(io, "1.41", answer);
  const auto another = co_await docker_engine::connect(io.get_executor(), other.address());
  CHECK_THROWS_AS(co_await container(another, "../images/json").inspect(), error);
}

ASYNC_TEST("wire: the newest version that both know is spoken, and one that is too old refused") {
  struct wanted {
    const char* offered;
    const char* spoken;
  };
  const wanted all[] = {{"1.41", "/v1.41/"}, {"1.44", "/v1.44/"}, {"1.52", "/v1.47/"}};
  for (const wanted& each : all) {
    CAPTURE(each.offered);
    false_daemon daemon(io, each.offered, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}");
    const auto engine = co_await docker_engine::connect(io.get_executor(), daemon.address());
    co_await engine->ask("GET", "/info");
    CHECK(daemon.asked.find(each.spoken) != std::string::npos);
  }
  false_daemon old(io, "1.24", "");
  std::error_code code;
  try {
    co_await docker_engine::connect(io.get_executor(), old.address());
  } catch (const error& failure) {
    code = failure.code();
  }
  CHECK(code == errc::unsupported);
}
