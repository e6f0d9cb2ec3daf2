/// What servers do wrong under TLS, and tunnels. The servers are OpenSSL on a thread of the test.
#include "core/deadline.hpp"
#include "http/certificates.hpp"
#include "http/client.hpp"
#include "http/failures.hpp"
#include "http/openssl.hpp"
#include "http/script_server.hpp"
#include "http/server_program.hpp"
#include "support/async.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <thread>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
using namespace http;

const identity& server_identity() {
  static const identity made = [] {
    certificate_wish wish;
    wish.subject = "server";
    wish.names = {"DNS:far.test", "IP:127.0.0.1"};
    return make_certificate(wish);
  }();
  return made;
}

bio_ptr pem_over(const std::string& text) {
  return bio_ptr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

ssl_context_ptr server_context() {
  ssl_context_ptr context(SSL_CTX_new(TLS_server_method()));
  const certificate_ptr certificate(
      PEM_read_bio_X509(pem_over(server_identity().certificate).get(), nullptr, nullptr, nullptr));
  const key_ptr key(PEM_read_bio_PrivateKey(pem_over(server_identity().key).get(), nullptr, nullptr, nullptr));
  SSL_CTX_use_certificate(context.get(), certificate.get());
  SSL_CTX_use_PrivateKey(context.get(), key.get());
  return context;
}

/// Accepts one connection on a thread and lets a function have its descriptor.
class thread_server {
 public:
  explicit thread_server(std::function<void(int fd)> what)
      : thread_([this, what = std::move(what)] {
          sigset_t pipe;
          ::sigemptyset(&pipe);
          ::sigaddset(&pipe, SIGPIPE);
          ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);  // OpenSSL writes with write(2)
          const int fd = ::accept4(port_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
          if (fd < 0) return;
          what(fd);
          ::close(fd);
        }) {}
  ~thread_server() {
    ::shutdown(port_.fd(), SHUT_RDWR);
    thread_.join();
  }
  thread_server(const thread_server&) = delete;
  thread_server& operator=(const thread_server&) = delete;

  std::string port() const { return std::to_string(port_.number()); }
  std::string url() const { return "https://127.0.0.1:" + port() + "/"; }

 private:
  listening_port port_;
  std::thread thread_;
};

ssl_ptr accept_tls(SSL_CTX* context, BIO* below) {
  ssl_ptr ssl(SSL_new(context));
  SSL_set_bio(ssl.get(), below, below);
  if (SSL_accept(ssl.get()) != 1) ERR_clear_error();
  return ssl;
}

ssl_ptr accept_tls(SSL_CTX* context, int fd) { return accept_tls(context, BIO_new_socket(fd, BIO_NOCLOSE)); }

std::string read_head(const std::function<int(char*, int)>& read) {
  std::string head;
  char one;
  while (!head.ends_with("\r\n\r\n") && read(&one, 1) == 1) head += one;
  return head;
}

std::string read_head(SSL* ssl) {
  return read_head([ssl](char* into, int size) { return SSL_read(ssl, into, size); });
}

void write_text(SSL* ssl, const std::string& text) { (void)SSL_write(ssl, text.data(), static_cast<int>(text.size())); }

/// Until the client has closed.
void drain(int fd) {
  char bytes[4096];
  while (::read(fd, bytes, sizeof bytes) > 0) continue;
}

client_options trusting() {
  client_options options;
  options.proxies = proxy_rules();
  options.tls.authorities.text = server_identity().certificate;
  return options;
}

ASYNC_TEST("tls: a server that wants a certificate refuses behind the handshake, and nothing was done") {
  const thread_server server([](int fd) {
    const auto context = server_context();
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    const auto ssl = accept_tls(context.get(), fd);
    drain(fd);
  });
  client by(io.get_executor(), trusting());
  const auto seen = co_await outcome(by, request("POST", server.url()));
  CHECK(seen.brief == "tls never: not authorized");
  CHECK(seen.message.find("the server wants a client certificate; give certificate and key") != std::string::npos);
}

ASYNC_TEST("tls: a name that cannot be asked for is refused, before anything is said") {
  const thread_server server(drain);
  client_options options = trusting();
  options.tls.server_name = std::string(300, 'x');
  client by(io.get_executor(), options);
  const auto seen = co_await outcome(by, request("GET", server.url()));
  CHECK(seen.brief == "tls never: invalid argument");
  CHECK(seen.message == "TLS: no name that could be checked: " + options.tls.server_name);
}

ASYNC_TEST("tls: a stranger's certificate is refused") {
  const thread_server server([](int fd) {
    const auto context = server_context();
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    const auto ssl = accept_tls(context.get(), fd);
    drain(fd);
  });
  const auto stranger = make_certificate(certificate_wish());
  client_options options = trusting();
  options.tls.certificate.text = stranger.certificate;
  options.tls.key.text = stranger.key;
  client by(io.get_executor(), options);
  const auto seen = co_await outcome(by, request("POST", server.url()));
  CHECK(seen.brief == "tls never: not authorized");
  CHECK(seen.message.find("refuses the client certificate") != std::string::npos);
}

ASYNC_TEST("tls: versions before 1.2 are refused") {
  const thread_server server([](int fd) {
    const auto context = server_context();
    SSL_CTX_set_cipher_list(context.get(), "DEFAULT:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context.get(), TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context.get(), TLS1_1_VERSION);
    const auto ssl = accept_tls(context.get(), fd);
    drain(fd);
  });
  client by(io.get_executor(), trusting());
  const auto seen = co_await outcome(by, request("POST", server.url()));
  CHECK(seen.brief.starts_with("tls never: "));
  CHECK(seen.message.find("no version of TLS that is new enough") != std::string::npos);
}

ASYNC_TEST("tls: a server that speaks plain http, and one that closes") {
  const auto plain = [](script_peer_ptr peer, int number) -> task<void> {
    (void)co_await peer->read_bytes(100);
    if (number == 0) co_await peer->write(response_text("bad request", "", "400 Bad Request"));
    if (number == 0) (void)co_await peer->read_to_end();
  };
  script_server server(io, plain);
  client by(io.get_executor(), trusting());
  const std::string url = "https://127.0.0.1:" + std::to_string(server.port()) + "/";
  auto seen = co_await outcome(by, request("GET", url));
  CHECK(seen.brief == "tls never: protocol violated");
  CHECK(seen.message.find("does not speak TLS; is it plain http?") != std::string::npos);
  seen = co_await outcome(by, request("GET", url));
  CHECK((seen.brief == "tls never: connection to the place was lost" ||
         seen.brief == "tls never: Connection reset by peer"));
}

ASYNC_TEST("tls: plain http to a server that wants TLS ends, and is no response") {
  const thread_server server([](int fd) {
    const auto context = server_context();
    const auto ssl = accept_tls(context.get(), fd);
  });
  client by(io.get_executor(), trusting());
  const auto seen = co_await outcome(by, request("GET", "http://127.0.0.1:" + server.port() + "/"));
  CHECK((seen.brief.starts_with("read maybe: ") || seen.brief.starts_with("protocol maybe: ")));
}

ASYNC_TEST("tls: a handshake that hangs ends with the deadline") {
  const thread_server server(drain);
  client_options options = trusting();
  options.connect.timeout = 500ms;
  client by(io.get_executor(), options);
  const auto seen = co_await outcome(by, request("GET", server.url()));
  CHECK(seen.brief == "tls never: timed out");
}

ASYNC_TEST("tls: an end that TLS does not announce may have cut something off") {
  for (const bool announced : {true, false}) {
    const thread_server server([announced](int fd) {
      const auto context = server_context();
      const auto ssl = accept_tls(context.get(), fd);
      (void)read_head(ssl.get());
      write_text(ssl.get(), "HTTP/1.1 200 OK\r\n\r\nto the end");
      if (announced) SSL_shutdown(ssl.get());
    });
    client by(io.get_executor(), trusting());
    const auto seen = co_await outcome(by, request("GET", server.url()));
    if (announced) CHECK(seen.brief == "200 to the end");
    if (!announced) CHECK(seen.brief == "read maybe: connection to the place was lost");
  }
}

ASYNC_TEST("tls: a redirect to plain http is not followed") {
  const thread_server server([](int fd) {
    const auto context = server_context();
    const auto ssl = accept_tls(context.get(), fd);
    (void)read_head(ssl.get());
    write_text(ssl.get(), response_text("", "Location: http://127.0.0.1:1/\r\n", "302 Found"));
    drain(fd);
  });
  client by(io.get_executor(), trusting());
  const auto seen = co_await outcome(by, request("GET", server.url()));
  CHECK(seen.brief == "protocol maybe: protocol violated");
  CHECK(seen.message.find("a redirect from https to plain http") != std::string::npos);
}

task<std::string> read_for(stream_ptr stream, std::chrono::milliseconds time) {
  std::string buffer(100, '\0');
  const std::span<char> into(buffer);
  auto reading = with_deadline(stream->read(into), time);
  try {
    buffer.resize(co_await std::move(reading));
  } catch (const error& failed) {
    CHECK(failed.code() == errc::timeout);
    buffer.clear();
  }
  co_return buffer;
}

ASYNC_TEST("tls: a read that is cancelled loses nothing") {
  const thread_server server([](int fd) {
    const auto context = server_context();
    const auto ssl = accept_tls(context.get(), fd);
    for (const char* each : {"one", "two", "three"}) {
      std::this_thread::sleep_for(30ms);
      write_text(ssl.get(), each);
    }
    SSL_shutdown(ssl.get());
    drain(fd);
  });
  route where;
  where.to = parse_url(server.url());
  where.tls = std::make_shared<const tls_context>(trusting().tls);
  const connect_options by_default;
  const auto stream = co_await open_connection(where, by_default);
  std::string all;
  int cancelled = 0;
  while (all.size() < 11) {
    const std::string piece = co_await read_for(stream, 5ms);
    cancelled += piece.empty() ? 1 : 0;
    all += piece;
  }
  CHECK(all == "onetwothree");
  CHECK(cancelled > 0);
  char one;
  const std::span<char> into(&one, 1);
  const auto end = co_await stream->read(into);
  CHECK(end == 0);
  stream->close();
}

ASYNC_TEST("tls: through the tunnel of a proxy the server's own certificate counts") {
  const thread_server proxy([](int fd) {
    const auto read = [fd](char* into, int size) {
      return static_cast<int>(::read(fd, into, static_cast<std::size_t>(size)));
    };
    const std::string head = read_head(read);
    const std::string answer = "HTTP/1.1 200 Connection established\r\n\r\n";
    if (::write(fd, answer.data(), answer.size()) < 0 || !head.starts_with("CONNECT far.test:443 ")) return;
    const auto context = server_context();
    const auto ssl = accept_tls(context.get(), fd);
    (void)read_head(ssl.get());
    write_text(ssl.get(), response_text("inside"));
    drain(fd);
  });
  client_options options = trusting();
  options.proxies = proxy_rules(parse_url("http://127.0.0.1:" + proxy.port()));
  client by(io.get_executor(), options);
  const auto seen = co_await outcome(by, request("GET", "https://far.test/"));
  CHECK(seen.brief == "200 inside");
}

ASYNC_TEST("tls: inside of TLS, where the proxy itself is https") {
  const thread_server proxy([](int fd) {
    const auto context = server_context();
    const auto outer = accept_tls(context.get(), fd);
    const std::string head = read_head(outer.get());
    if (!head.starts_with("CONNECT far.test:443 ")) return;
    write_text(outer.get(), "HTTP/1.1 200 OK\r\n\r\n");
    BIO* below = BIO_new(BIO_f_ssl());
    BIO_set_ssl(below, outer.get(), BIO_NOCLOSE);
    const auto inner = accept_tls(context.get(), below);
    (void)read_head(inner.get());
    write_text(inner.get(), response_text("inside"));
    drain(fd);
  });
  client_options options = trusting();
  options.proxies = proxy_rules(parse_url("https://127.0.0.1:" + proxy.port()));
  client by(io.get_executor(), options);
  const auto seen = co_await outcome(by, request("GET", "https://far.test/"));
  CHECK(seen.brief == "200 inside");
}

ASYNC_TEST("tls: options that cannot be are refused with the name of what is wrong") {
  const temp_dir dir;
  const auto refusal = [](const tls_options& options) {
    try {
      (void)tls_context(options);
    } catch (const error& wrong) {
      return wrong.message();
    }
    return std::string();
  };
  tls_options options;
  options.authorities.file = dir / "none.pem";
  CHECK(refusal(options) == "TLS: the authorities " + options.authorities.file + ": cannot be read");
  write_whole_file(dir / "none.pem", "no certificate");
  CHECK(refusal(options) == "TLS: the authorities " + options.authorities.file + ": no PEM certificate in it");
  options = {};
  options.certificate.text = "x";
  options.key.text = "y";
  CHECK(refusal(options) == "TLS: the certificate: no PEM certificate in it that can be used");
  options.certificate.text = server_identity().certificate;
  CHECK(refusal(options) == "TLS: the key: no PEM key in it, or one with a passphrase");
  options.key.file = "z";
  CHECK(refusal(options) == "TLS: key: a file and text exclude one another");
  co_return;
}

}  // namespace
}  // namespace berth::test
