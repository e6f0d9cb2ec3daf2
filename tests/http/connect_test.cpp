/// Ways to a server: addresses in turn, names, socket files, proxies, the standard streams of a child.
#include "http/connect.hpp"

#include "http/client.hpp"
#include "http/failures.hpp"
#include "http/script_server.hpp"
#include "os/helper_process.hpp"
#include "os/pipe_write.hpp"
#include "support/async.hpp"
#include "support/running.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <asio/error.hpp>

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <string>
#include <thread>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using http::client;
using http::client_options;
using http::connect_options;
using http::request;

task<void> say_hello(script_peer_ptr peer, int) {
  const std::string head = co_await peer->read_head();
  co_await peer->write(response_text(head));
}

std::string port_of(const script_server& server) { return std::to_string(server.port()); }

ASYNC_TEST("connect: an override leads a name elsewhere, and the name stays in the request") {
  script_server server(io, say_hello);
  client_options options = direct_options();
  options.connect.resolve.push_back({"Example.Test", server.port(), {"127.0.0.1"}});
  client by(io.get_executor(), options);
  const auto got = co_await by.send(request("GET", "http://example.test:" + port_of(server) + "/"));
  CHECK(got.body().find("Host: example.test:" + port_of(server)) != std::string::npos);
}

ASYNC_TEST("connect: addresses are tried in turn, and one that is dead does not use up the time") {
  script_server server(io, say_hello);
  // The first refuses; the second never answers: a listener on another loopback address whose queue is full.
  const int full = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(0x7f000003);
  address.sin_port = htons(server.port());
  REQUIRE(::bind(full, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(full, 0) == 0);
  std::vector<int> fillers;
  for (int i = 0; i < 3; ++i) {
    fillers.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    (void)::connect(fillers.back(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  }
  client_options options = direct_options();
  options.connect.timeout = 3s;
  options.connect.resolve.push_back({"h.test", 0, {"127.0.0.2", "127.0.0.3", "127.0.0.1"}});
  client by(io.get_executor(), options);
  const auto seen = co_await outcome(by, request("GET", "http://h.test:" + port_of(server) + "/"));
  CHECK(seen.brief.starts_with("200 GET / "));
  options.connect.resolve[0].addresses = {"127.0.0.2", "127.0.0.3"};
  client dead(io.get_executor(), options);
  const auto failed = co_await outcome(dead, request("GET", "http://h.test:" + port_of(server) + "/"));
  CHECK(failed.brief == "connect never: timed out");
  CAPTURE(failed.message);
  CHECK(failed.message.find("(127.0.0.2: Connection refused, 127.0.0.3: no answer)") != std::string::npos);
  for (const int each : fillers) ::close(each);
  ::close(full);
}

ASYNC_TEST("connect: a name without an address is told as such, and a lookup that failed as what it is") {
  client_options options = direct_options();
  options.connect.lookup = [](const std::string&) -> std::vector<asio::ip::address> {
    throw std::system_error(make_error_code(asio::error::host_not_found));
  };
  client by(io.get_executor(), options);
  auto seen = co_await outcome(by, request("GET", "http://nowhere.test/"));
  CHECK(seen.brief == "resolve never: Host not found (authoritative)");
  CHECK(seen.message == "the name nowhere.test has no address");
  options.connect.lookup = [](const std::string&) -> std::vector<asio::ip::address> {
    throw std::system_error(make_error_code(asio::error::host_not_found_try_again));
  };
  client later(io.get_executor(), options);
  seen = co_await outcome(later, request("GET", "http://nowhere.test/"));
  CHECK(seen.brief.starts_with("resolve never: "));
  CHECK(seen.message == "the name nowhere.test could not be looked up");
  options.connect.lookup = [](const std::string&) -> std::vector<asio::ip::address> {
    throw error(errc::resource_exhausted, "too many name lookups hang");
  };
  client full(io.get_executor(), options);
  seen = co_await outcome(full, request("GET", "http://nowhere.test/"));
  CHECK(seen.message == "the name nowhere.test could not be looked up: too many name lookups hang");
  client real(io.get_executor(), direct_options());
  seen = co_await outcome(real, request("GET", "http://nowhere.invalid/").timeout(5s));
  CHECK(seen.brief.starts_with("resolve never: "));
}

ASYNC_TEST("connect: localhost is looked up by the system") {
  script_server server(io, say_hello);
  client by(io.get_executor(), direct_options());
  const auto seen = co_await outcome(by, request("GET", "http://localhost:" + port_of(server) + "/"));
  CHECK(seen.brief.starts_with("200 GET / "));
}

ASYNC_TEST("connect: a lookup that hangs holds up neither deadline nor cancellation, nor the io_context") {
  const auto hanging = std::make_shared<std::atomic<bool>>(true);
  client_options options = direct_options();
  options.connect.timeout = 50ms;
  options.connect.lookup = [hanging](const std::string&) {
    while (*hanging) std::this_thread::sleep_for(1ms);
    return std::vector<asio::ip::address>();
  };
  client by(io.get_executor(), options);
  const auto seen = co_await outcome(by, request("GET", "http://slow.test/"));
  CHECK(seen.brief == "resolve never: timed out");
  running cancelled(io.get_executor(), by.send(request("GET", "http://slow.test/")));
  co_await pause_for(5ms);
  cancelled.cancel();
  std::error_code code;
  try {
    (void)co_await cancelled.result();
  } catch (const std::system_error& failed) {
    code = failed.code();
  }
  CHECK(is_cancelled(code));
  *hanging = false;
}

ASYNC_TEST("connect: only so many lookups may hang") {
  const auto hanging = std::make_shared<std::atomic<bool>>(true);
  const http::name_lookup lookup = [hanging](const std::string&) {
    while (*hanging) std::this_thread::sleep_for(1ms);
    return std::vector<asio::ip::address>(1);
  };
  std::vector<running<std::vector<asio::ip::address>>> all;
  for (int i = 0; i < 32; ++i) all.emplace_back(io.get_executor(), http::look_up("slow.test", lookup));
  co_await pause_for(5ms);
  std::error_code code;
  try {
    (void)co_await http::look_up("other.test", lookup);
  } catch (const std::system_error& failed) {
    code = failed.code();
  }
  CHECK(code == errc::resource_exhausted);
  const auto literal = co_await http::look_up("::1", lookup);
  CHECK(literal.size() == 1);
  *hanging = false;
  for (auto& each : all) {
    const auto found = co_await each.result();
    CHECK(found.size() == 1);
  }
}

/// A listening socket file that nobody accepts from.
int listen_at(const std::string& path, int queue) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.data(), path.size());
  REQUIRE(::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  REQUIRE(::listen(fd, queue) == 0);
  return fd;
}

ASYNC_TEST("connect: socket files that are missing, closed, full or too long") {
  const temp_dir dir;
  client_options options = direct_options();
  options.unix_socket = dir / "none";
  failure seen;
  {
    client by(io.get_executor(), options);
    seen = co_await outcome(by, request("GET", "http://docker/"));
    CHECK(seen.brief == "connect never: No such file or directory");
    CHECK(seen.message == "no connection to " + options.unix_socket);
  }
  write_whole_file(dir / "file", "");
  options.unix_socket = dir / "file";
  {
    client by(io.get_executor(), options);
    seen = co_await outcome(by, request("GET", "http://docker/"));
    CHECK(seen.brief == "connect never: Connection refused");
  }
  options.unix_socket = dir / "full";
  options.connect.timeout = 100ms;
  const int listener = listen_at(options.unix_socket, 0);
  {
    client by(io.get_executor(), options);
    running first(io.get_executor(), by.send(request("GET", "http://docker/")));
    co_await pause_for(20ms);
    seen = co_await outcome(by, request("GET", "http://docker/"));
    CHECK(seen.brief == "connect never: timed out");
    first.cancel();
  }
  ::close(listener);
  options.unix_socket = std::string(200, 'x');
  client by(io.get_executor(), options);
  seen = co_await outcome(by, request("GET", "http://docker/"));
  CHECK(seen.brief == "invalid argument");
}

ASYNC_TEST("connect: a plain request goes to the proxy as a whole URL") {
  script_server proxy(io, say_hello);
  client_options options = direct_options();
  options.proxies = http::proxy_rules(http::parse_url("http://me:pw@127.0.0.1:" + port_of(proxy)));
  client by(io.get_executor(), options);
  const auto got = co_await by.send(request("GET", "http://user:hidden@far.test/a?b"));
  CHECK(got.body().starts_with("GET http://far.test/a?b HTTP/1.1\r\nHost: far.test\r\n"));
  CHECK(got.body().find("Proxy-Authorization: Basic bWU6cHc=\r\n") != std::string::npos);
}

ASYNC_TEST("connect: https asks the proxy for a tunnel, whose refusal is told without secrets") {
  const auto script = [](script_peer_ptr peer, int number) -> task<void> {
    const std::string head = co_await peer->read_head();
    CHECK(head.starts_with(
        "CONNECT far.test:443 HTTP/1.1\r\nHost: far.test:443\r\nProxy-Authorization: Basic bWU6cHc=\r\n"));
    if (number == 0) co_await peer->write("HTTP/1.1 407 Who are you\r\nContent-Length: 0\r\n\r\n");
    if (number == 1) co_await peer->write("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n");
    if (number == 2) co_await peer->write("HTTP/1.1 200 OK\r\n\r\nunasked");
    if (number == 3) co_await peer->write("HTTP/1.1 200 OK\r\n\r\n");
  };
  script_server proxy(io, script);
  client_options options = direct_options();
  options.proxies = http::proxy_rules(http::parse_url("http://me:pw@127.0.0.1:" + port_of(proxy)));
  client by(io.get_executor(), options);
  auto seen = co_await outcome(by, request("GET", "https://far.test/"));
  CHECK(seen.brief == "connect never: not authorized");
  CHECK(seen.message == "the proxy 127.0.0.1:" + port_of(proxy) + " refuses the connection with 407");
  CHECK(seen.remote == "Who are you");
  seen = co_await outcome(by, request("GET", "https://far.test/"));
  CHECK(seen.brief == "connect never: not available now");
  seen = co_await outcome(by, request("GET", "https://far.test/"));
  CHECK(seen.brief == "connect never: protocol violated");
  seen = co_await outcome(by, request("GET", "https://far.test/"));
  CHECK(seen.brief == "tls never: connection to the place was lost");
  seen = co_await outcome(by, request("GET", "https://far.test/"));
  CHECK(seen.brief == "connect never: connection to the place was lost");
}

/// Ends and reaps the child with the connection.
struct child_owner {
  explicit child_owner(helper_process of) : child(std::move(of)) {}
  child_owner(const child_owner&) = delete;
  ~child_owner() {
    child.kill(SIGKILL);
    (void)child.wait_blocking(5s);
  }
  helper_process child;
};

http::stream_ptr over_child(asio::any_io_executor executor, const std::string& text) {
  int to[2];
  int from[2];
  REQUIRE(::pipe2(to, O_CLOEXEC) == 0);
  REQUIRE(::pipe2(from, O_CLOEXEC) == 0);
  helper_options options;
  options.argv = {"sh", "-c", text};
  options.fds = {placed_fd{to[0], 0}, placed_fd{from[1], 1}};
  auto child = std::make_shared<child_owner>(helper_process::start("/bin/sh", options));
  ::close(to[0]);
  ::close(from[1]);
  return http::make_stdio_stream(executor, from[0], to[1], &write_no_sigpipe, std::move(child));
}

task<http::stream_ptr> dial_child(asio::any_io_executor executor, std::string text) {
  co_return over_child(executor, text);
}

ASYNC_TEST("connect: over the standard streams of a child") {
  client_options options;
  const auto executor = io.get_executor();
  const std::string answer =
      "while read -r line && [ \"$line\" != \"$(printf '\\r')\" ]; do :; done; printf 'HTTP/1.1 200 OK\\r\\n";
  const auto dial = [&] { return dial_child(executor, answer + "Content-Length: 5\\r\\n\\r\\nhello'; exec cat"); };
  options.dial = dial;
  client by(executor, options);
  auto seen = co_await outcome(by, request("GET", "http://docker/"));
  CHECK(seen.brief == "200 hello");
  const auto dying = [&] { return dial_child(executor, "exit 1"); };
  options.dial = dying;
  client other(executor, options);
  seen = co_await outcome(other, request("GET", "http://docker/"));
  CHECK((seen.brief.starts_with("read ") || seen.brief.starts_with("write ")));
}

ASYNC_TEST("connect: half-close over pipes") {
  const auto stream = over_child(io.get_executor(), "cat; echo end");
  co_await stream->write("some bytes ");
  co_await stream->shutdown_write();
  std::string all;
  char buffer[64];
  for (;;) {
    const std::span<char> into(buffer);
    const std::size_t n = co_await stream->read(into);
    if (n == 0) break;
    all.append(buffer, n);
  }
  CHECK(all == "some bytes end\n");
  stream->close();
}

}  // namespace
}  // namespace berth::test
