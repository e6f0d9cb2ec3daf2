/// The client against Node's http and https.
#include "http/client.hpp"

#include "http/certificates.hpp"
#include "http/failures.hpp"
#include "http/form_writer.hpp"
#include "http/server_program.hpp"
#include "support/async.hpp"

#include <string>
#include <vector>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using http::client;
using http::client_options;
using http::request;

const std::string node_script = R"(
const fs = require('fs'), path = require('path');
const tls = fs.existsSync(path.join(__dirname, 'key.pem'));
const file = name => fs.readFileSync(path.join(__dirname, name));
const answer = (req, res) => {
  if (req.url == '/echo') { res.setHeader('X-Framing', req.headers['transfer-encoding'] || 'length'); req.pipe(res); }
  else if (req.url == '/trailers') {
    res.writeEarlyHints && res.writeEarlyHints({link: '</x>; rel=preload'});
    res.writeHead(200, {Trailer: 'Sum'}); res.write('abc');
    setTimeout(() => { res.addTrailers({Sum: '5'}); res.end('def'); }, 20);
  } else if (req.url == '/close') { res.shouldKeepAlive = false; res.end('bye'); }
  else if (req.url == '/form') { let all = ''; req.setEncoding('latin1'); req.on('data', d => all += d); req.on('end', () => res.end(all)); }
  else { res.statusCode = 404; res.end(); }
};
const upgrade = (req, socket, head) => {
  socket.write('HTTP/1.1 101 UPGRADED\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\nearly ');
  let all = head.toString();
  socket.on('data', d => all += d);
  socket.on('end', () => setTimeout(() => socket.end('late:' + all), 20));
  socket.on('error', () => {});
};
const server = tls ? require('https').createServer({key: file('key.pem'), cert: file('cert.pem'), allowHalfOpen: true}, answer)
                   : require('http').createServer(answer);
server.on('upgrade', upgrade);
server.listen({fd: 3});
)";

task<std::string> read_all(http::stream_ptr stream) {
  std::string all;
  std::string buffer(4096, '\0');
  for (;;) {
    const std::span<char> into(buffer);
    const std::size_t n = co_await stream->read(into);
    if (n == 0) co_return all;
    all.append(buffer, 0, n);
  }
}

task<void> use_bodies(client& by, std::string base) {
  std::string body(3'000'000, '\0');
  for (std::size_t i = 0; i < body.size(); ++i) body[i] = static_cast<char>(i * 7 % 251);
  auto got = co_await by.send(request("POST", base + "/echo").body(body, "x/y"));
  CHECK(got.body() == body);
  CHECK(got.fields().find("x-framing") == "length");
  got = co_await by.send(request("POST", base + "/echo").body(make_byte_source(body), std::nullopt, "x/y"));
  CHECK(got.body() == body);
  CHECK(got.fields().find("x-framing") == "chunked");
  // Both directions stream at once.
  auto both = co_await by.open(request("POST", base + "/echo").body(make_byte_source(body), std::nullopt, "x/y"));
  const std::string back = co_await both->rest(body.size());
  CHECK(back == body);
  got = co_await by.send(request("GET", base + "/trailers"));
  CHECK(got.body() == "abcdef");
  CHECK(got.trailers().find("sum") == "5");
  CHECK(by.idle_connections() == 1);
  got = co_await by.send(request("GET", base + "/close"));
  CHECK(got.body() == "bye");
  CHECK(by.idle_connections() == 0);
}

task<void> use_upgrade(client& by, std::string base) {
  const auto got = co_await by.upgrade(request("GET", base + "/up"), "tcp");
  REQUIRE(got.stream());
  co_await got.stream()->write("sent");
  co_await got.stream()->shutdown_write();
  const std::string all = co_await read_all(got.stream());
  CHECK(all == "early late:sent");
}

ASYNC_TEST_FOR("node: bodies, trailers, upgrades and forms", 60s) {
  const auto node = program_or_skip("node");
  if (node.empty()) co_return;
  const temp_dir dir;
  const listening_port port;
  const auto server = start_node(node, dir, node_script, port);
  const std::string base = "http://127.0.0.1:" + std::to_string(port.number());
  client_options options;
  options.proxies = http::proxy_rules();
  client by(io.get_executor(), options);
  co_await use_bodies(by, base);
  co_await use_upgrade(by, base);
  std::vector<http::form_part> parts;
  parts.push_back(http::form_part("file", make_byte_source("bytes")).filename("x.bin"));
  auto form = std::make_unique<http::form_writer>(std::move(parts), "XX");
  const std::string type = form->content_type();
  const auto size = form->size();
  const auto got = co_await by.send(request("POST", base + "/form").body(std::move(form), size, type));
  CHECK(got.body() ==
        "--XX\r\nContent-Disposition: form-data; name=\"file\"; filename=\"x.bin\"\r\n\r\nbytes\r\n--XX--\r\n");
}

ASYNC_TEST_FOR("node: the same under TLS, where closing one way is a close_notify", 60s) {
  const auto node = program_or_skip("node");
  if (node.empty()) co_return;
  const temp_dir dir;
  const listening_port port;
  certificate_wish wish;
  wish.subject = "node";
  wish.names = {"IP:127.0.0.1"};
  const auto made = make_certificate(wish);
  write_whole_file(dir / "key.pem", made.key);
  write_whole_file(dir / "cert.pem", made.certificate);
  const auto server = start_node(node, dir, node_script, port);
  const std::string base = "https://127.0.0.1:" + std::to_string(port.number());
  client_options options;
  options.proxies = http::proxy_rules();
  options.tls.authorities.text = made.certificate;
  client by(io.get_executor(), options);
  co_await use_bodies(by, base);
  co_await use_upgrade(by, base);
}

}  // namespace
}  // namespace berth::test
