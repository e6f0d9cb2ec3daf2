/// The client against nginx.
#include "http/client.hpp"

#include "http/certificates.hpp"
#include "http/failures.hpp"
#include "http/server_program.hpp"
#include "support/async.hpp"
#include "support/running.hpp"
#include "support/variable.hpp"
#include "support/waiting.hpp"

#include <sys/stat.h>

#include <string>
#include <vector>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using http::client;
using http::client_options;
using http::request;

const std::string& big_file() {
  static const std::string all = [] {
    std::string bytes;
    for (int i = 0; i < 300'000; ++i) bytes += std::to_string(i) + '\n';
    return bytes;
  }();
  return all;
}

std::string plain_server(const temp_dir& dir, const std::string& listen) {
  write_whole_file(dir / "big", big_file());
  return "server { listen " + listen + "; keepalive_timeout 300ms; root " + dir.path().string() +
         "; client_max_body_size 1k;"
         " location /hello { return 200 'hello'; }"
         " location /none { return 204; }"
         " location /old { return 301 /hello; }"
         " location /post { return 200 $content_length; } }\n";
}

task<void> use_plain(client& by, std::string base) {
  auto seen = co_await outcome(by, request("GET", base + "/hello"));
  CHECK(seen.brief == "200 hello");
  seen = co_await outcome(by, request("DELETE", base + "/none"));
  CHECK(seen.brief == "204 ");
  seen = co_await outcome(by, request("GET", base + "/old"));
  CHECK(seen.brief == "200 hello");
  seen = co_await outcome(by, request("GET", base + "/missing"));
  CHECK(seen.brief.starts_with("404 "));
  const auto head = co_await by.send(request("HEAD", base + "/big"));
  CHECK(head.body().empty());
  CHECK(head.fields().find("content-length") == std::to_string(big_file().size()));
  const auto part = co_await by.send(request("GET", base + "/big").header("Range", "bytes=2-5"));
  CHECK(part.status() == 206);
  CHECK(part.body() == "1\n2\n");
  const auto whole = co_await by.send(request("GET", base + "/big"));
  CHECK(whole.body() == big_file());
  CHECK(by.idle_connections() == 1);
}

task<void> use_limits(client& by, std::string base) {
  auto seen = co_await outcome(by, request("POST", base + "/post").body(std::string(1000, 'x'), ""));
  CHECK(seen.brief == "200 1000");
  // Beyond its limit nginx answers at once, without reading, and closes.
  seen = co_await outcome(by, request("POST", base + "/post").body(std::string(50'000'000, 'x'), ""));
  CHECK(seen.brief.starts_with("413 "));
  seen = co_await outcome(by, request("POST", base + "/post").body(std::string(5000, 'x'), "").expect_continue());
  CHECK(seen.brief.starts_with("413 "));
  // It closes kept connections after 300 ms.
  for (int i = 0; i < 2; ++i) {
    seen = co_await outcome(by, request("POST", base + "/post").body("1", ""));
    CHECK(seen.brief == "200 1");
    co_await pause_for(1s);
  }
}

ASYNC_TEST_FOR("nginx: over tcp", 30s) {
  const auto nginx = program_or_skip("nginx");
  if (nginx.empty()) co_return;
  const temp_dir dir;
  const listening_port port;
  const std::string address = "127.0.0.1:" + std::to_string(port.number());
  const auto server = start_nginx(nginx, dir, plain_server(dir, address), {&port});
  client by(io.get_executor(), direct_options());
  co_await use_plain(by, "http://" + address);
  co_await use_limits(by, "http://" + address);
  std::vector<running<http::response>> all;
  for (int i = 0; i < 64; ++i)
    all.emplace_back(io.get_executor(), by.send(request("GET", "http://" + address + "/big")));
  for (auto& each : all) {
    const auto got = co_await each.result();
    CHECK(got.body().size() == big_file().size());
  }
}

ASYNC_TEST_FOR("nginx: over a socket file", 30s) {
  const auto nginx = program_or_skip("nginx");
  if (nginx.empty()) co_return;
  const temp_dir dir;
  const std::string path = dir / "socket";
  const auto server = start_nginx(nginx, dir, plain_server(dir, "unix:" + path), {});
  const auto there = [&] {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0;
  };
  const bool up = co_await becomes_true(there, 10s);
  REQUIRE(up);
  client_options options;
  options.unix_socket = path;
  client by(io.get_executor(), options);
  // The file is there before it is listened at.
  for (int i = 0; i < 100; ++i) {
    const auto seen = co_await outcome(by, request("GET", "http://docker/hello"));
    if (seen.brief.starts_with("200")) break;
    co_await pause_for(10ms);
  }
  co_await use_plain(by, "http://docker");
  co_await use_limits(by, "http://docker");
}

/// Names of servers behind one port, each with a certificate of its own.
struct tls_world {
  tls_world() {
    certificate_wish wish;
    wish.subject = "Test authority";
    wish.authority = true;
    authority = make_certificate(wish);
    namesake = make_certificate(wish);
    wish.subject = "Other authority";
    other = make_certificate(wish);
    add("good.test", {}, &authority);
    wish = certificate_wish();
    wish.valid_from = -7200;
    wish.valid_to = -3600;
    add("expired.test", wish, &authority);
    wish = certificate_wish();
    wish.valid_from = 3600;
    wish.valid_to = 7200;
    add("early.test", wish, &authority);
    add("self.test", {}, nullptr);
    add("unknown.test", {}, &other);
    add("namesake.test", {}, &namesake);
    wish = certificate_wish();
    wish.subject = "client";
    me = make_certificate(wish, &authority);
    stranger = make_certificate(wish, &other);
    write_whole_file(dir / "ca.pem", authority.certificate);
    add("client.test", {}, &authority, "ssl_verify_client on; ssl_client_certificate " + (dir / "ca.pem") + ";");
  }

  void add(const std::string& name, certificate_wish wish, const identity* issuer, const std::string& more = "") {
    wish.subject = name;
    wish.names = {"DNS:" + name, "IP:127.0.0.1"};
    const auto made = make_certificate(wish, issuer);
    write_whole_file(dir / (name + ".pem"), made.certificate);
    write_whole_file(dir / (name + ".key"), made.key);
    servers += "server { listen 127.0.0.1:" + std::to_string(port.number()) +
               " ssl; ssl_protocols TLSv1.2 TLSv1.3; server_name " + name + "; ssl_certificate " +
               (dir / (name + ".pem")) + "; ssl_certificate_key " + (dir / (name + ".key")) + "; " + more +
               " location / { return 200 '$ssl_server_name $ssl_protocol $ssl_client_verify'; } location /big { root " +
               dir.path().string() + "; } }\n";
  }

  client_options options(std::string name) const {
    client_options made = direct_options();
    made.connect.resolve.push_back({std::move(name), 0, {"127.0.0.1"}});
    made.tls.authorities.text = authority.certificate;
    return made;
  }

  std::string url(const std::string& host) const {
    return "https://" + host + ":" + std::to_string(port.number()) + "/";
  }

  temp_dir dir;
  listening_port port;
  identity authority;
  identity other;
  identity namesake;
  identity me;
  identity stranger;
  std::string servers;
};

ASYNC_TEST_FOR("nginx: TLS with an authority of one's own, by name and by address", 30s) {
  const auto nginx = program_or_skip("nginx");
  if (nginx.empty()) co_return;
  const tls_world world;
  write_whole_file(world.dir / "big", big_file());
  const auto server = start_nginx(nginx, world.dir, world.servers, {&world.port});
  client by(io.get_executor(), world.options("good.test"));
  for (int i = 0; i < 3; ++i) {
    const auto seen = co_await outcome(by, request("GET", world.url("good.test")));
    CHECK(seen.brief == "200 good.test TLSv1.3 NONE");
  }
  CHECK(by.idle_connections() == 1);
  const auto whole = co_await by.send(request("GET", world.url("good.test") + "big"));
  CHECK(whole.body() == big_file());
  auto seen = co_await outcome(by, request("GET", world.url("127.0.0.1")));
  CHECK(seen.brief == "200  TLSv1.3 NONE");
  client_options from_file = world.options("good.test");
  from_file.tls.authorities.text.clear();
  from_file.tls.authorities.file = world.dir / "ca.pem";
  client other(io.get_executor(), from_file);
  seen = co_await outcome(other, request("GET", world.url("good.test")));
  CHECK(seen.brief == "200 good.test TLSv1.3 NONE");
}

task<failure> ask(asio::io_context& io, client_options options, std::string url) {
  client by(io.get_executor(), std::move(options));
  const auto seen = co_await outcome(by, request("POST", url));
  co_return seen;
}

ASYNC_TEST_FOR("nginx: each failed check of a certificate is named, with its cure", 30s) {
  const auto nginx = program_or_skip("nginx");
  if (nginx.empty()) co_return;
  const tls_world world;
  const auto server = start_nginx(nginx, world.dir, world.servers, {&world.port});
  struct expectation {
    const char* host;
    const char* words;
  };
  for (const expectation& each :
       {expectation{"wrong.test", "made out for other names"}, expectation{"expired.test", "it has expired"},
        expectation{"early.test", "not valid yet"}, expectation{"self.test", "self-signed"},
        expectation{"unknown.test", "an authority that is not known here"},
        expectation{"namesake.test", "another authority of the same name"}}) {
    const std::string host = each.host;
    const client_options options = world.options(host);
    const auto seen = co_await ask(io, options, world.url(host));
    CAPTURE(seen.message);
    CHECK(seen.brief == "tls never: protocol violated");
    CHECK(seen.message.find("TLS with " + host + ": its certificate is refused: ") == 0);
    CHECK(seen.message.find(each.words) != std::string::npos);
    CHECK(seen.remote.find("certificate of CN = ") == 0);
  }
  client_options system = world.options("good.test");
  system.tls.authorities = {};
  auto seen = co_await ask(io, system, world.url("good.test"));
  CHECK(seen.brief == "tls never: protocol violated");
  {
    const variable_is ours("SSL_CERT_FILE", world.dir / "ca.pem");
    seen = co_await ask(io, system, world.url("good.test"));
  }
  CHECK(seen.brief == "200 good.test TLSv1.3 NONE");
  system.tls.verify = false;
  seen = co_await ask(io, system, world.url("good.test"));
  CHECK(seen.brief == "200 good.test TLSv1.3 NONE");
  client_options renamed = world.options("wrong.test");
  renamed.tls.server_name = "good.test";
  seen = co_await ask(io, renamed, world.url("wrong.test"));
  CHECK(seen.brief == "200 good.test TLSv1.3 NONE");
}

ASYNC_TEST_FOR("nginx: client certificates", 30s) {
  const auto nginx = program_or_skip("nginx");
  if (nginx.empty()) co_return;
  const tls_world world;
  const auto server = start_nginx(nginx, world.dir, world.servers, {&world.port});
  client_options options = world.options("client.test");
  auto seen = co_await ask(io, options, world.url("client.test"));
  CHECK(seen.brief.starts_with("400 "));
  options.tls.certificate.text = world.me.certificate;
  options.tls.key.text = world.me.key;
  seen = co_await ask(io, options, world.url("client.test"));
  CHECK(seen.brief == "200 client.test TLSv1.3 SUCCESS");
  options.tls.key.text = world.stranger.key;
  seen = co_await ask(io, options, world.url("client.test"));
  CHECK(seen.brief == "tls never: invalid argument");
  CHECK(seen.message == "TLS: the key: it does not fit the certificate");
  options.tls.key = {};
  seen = co_await ask(io, options, world.url("client.test"));
  CHECK(seen.brief == "invalid argument");
  options.tls.key.file = world.dir / "missing.key";
  seen = co_await ask(io, options, world.url("client.test"));
  CHECK(seen.brief == "tls never: No such file or directory");
  CHECK(seen.message.find("missing.key") != std::string::npos);
}

}  // namespace
}  // namespace berth::test
