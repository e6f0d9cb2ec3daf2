// OpenSSL as a filter between two streams of bytes: it never sees a socket. So it runs over tunnels too, and its half-close is a
// close_notify alone, which asio::ssl cannot do without waiting for the other side's.
#include "core/event.hpp"
#include "http/tls.hpp"
#include "http/tls_context.hpp"
#include "http/url.hpp"

#include <asio/this_coro.hpp>

#include <openssl/err.h>
#include <openssl/x509v3.h>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <climits>
#include <string_view>
#include <utility>

namespace berth::http {
namespace {

constexpr std::size_t record = 16 * 1024;
constexpr std::size_t most_at_once = 4 * record;  // what is written counts as such by so much

class tls_stream final : public byte_stream, public std::enable_shared_from_this<tls_stream> {
 public:
  tls_stream(const asio::any_io_executor& executor, stream_ptr lower, ssl_ptr ssl, std::string host)
      : lower_(std::move(lower)), ssl_(std::move(ssl)), host_(std::move(host)), flushed_(executor) {
    bio_ptr in(BIO_new(BIO_s_mem()));
    bio_ptr out(BIO_new(BIO_s_mem()));
    if (!in || !out) throw http_error(phase::tls, false, errc::resource_exhausted, "TLS: " + openssl_reason());
    SSL_set_bio(ssl_.get(), in.release(), out.release());
    SSL_set_connect_state(ssl_.get());
  }

  task<std::size_t> read(std::span<char> into) override { return read_some(shared_from_this(), into); }
  task<void> write(std::string bytes) override { return write_all(shared_from_this(), std::move(bytes)); }
  task<void> shutdown_write() override { return shut(shared_from_this()); }
  bool write_last(std::string_view bytes) noexcept override {
    if (flushing_ || broken_ || has_output()) return false;
    ERR_clear_error();
    const int n = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    return n >= 0 && static_cast<std::size_t>(n) == bytes.size() && lower_->write_last(take_output());
  }
  void close() noexcept override { lower_->close(); }
  bool is_quiet() const noexcept override {
    return SSL_has_pending(ssl_.get()) == 0 && BIO_ctrl_pending(SSL_get_rbio(ssl_.get())) == 0 && lower_->is_quiet();
  }
  std::uint64_t written() const noexcept override { return written_; }

  static task<void> handshake(std::shared_ptr<tls_stream> self) {
    for (;;) {
      ERR_clear_error();
      const int done = SSL_do_handshake(self->ssl_.get());
      const int wants = done == 1 ? SSL_ERROR_NONE : SSL_get_error(self->ssl_.get(), done);
      // What says why (an alert of ours) goes out before the error comes.
      const auto failed = wants == SSL_ERROR_NONE || wants == SSL_ERROR_WANT_READ
                              ? nullptr
                              : std::make_shared<http_error>(tls_failure(self->ssl_.get(), self->host_, true));
      try {
        co_await flush(self);
      } catch (const std::system_error&) {
        if (!failed) throw;
      }
      if (failed) throw *failed;
      if (done == 1) co_return;
      const bool more = co_await fill(self);
      if (!more) self->fail_early();
    }
  }

 private:
  [[noreturn]] void fail_early() const {
    throw http_error(
        phase::tls, false, errc::lost,
        fmt::format("TLS with {}: the other side ended the connection in the handshake; does it speak TLS?", host_));
  }

  [[noreturn]] void fail_cut() const {
    throw http_error(
        phase::read, true, errc::lost,
        fmt::format("TLS with {}: the connection ended without TLS saying so: something may be cut off", host_));
  }

  /// Brings what the other side sent to OpenSSL; false at the end of the stream below.
  static task<bool> fill(std::shared_ptr<tls_stream> self) {
    self->input_.resize(record);
    const std::span<char> into(self->input_);
    const std::size_t n = co_await self->lower_->read(into);
    if (n > 0) BIO_write(SSL_get_rbio(self->ssl_.get()), self->input_.data(), static_cast<int>(n));
    co_return n > 0;
  }

  /// Takes what OpenSSL wants to send.
  std::string take_output() {
    BIO* out = SSL_get_wbio(ssl_.get());
    std::string bytes(BIO_ctrl_pending(out), '\0');
    if (!bytes.empty()) BIO_read(out, bytes.data(), static_cast<int>(bytes.size()));
    return bytes;
  }

  bool has_output() const { return BIO_ctrl_pending(SSL_get_wbio(ssl_.get())) > 0; }

  /// Only one at a time writes below; a cut write leaves the stream unusable.
  static task<void> flush(std::shared_ptr<tls_stream> self) {
    while (self->flushing_) co_await self->flushed_.wait();
    while (self->has_output()) {
      if (self->broken_) throw std::system_error(EPIPE, std::system_category());
      const busy here(*self);
      std::string bytes = self->take_output();
      self->broken_ = true;
      co_await self->lower_->write(std::move(bytes));
      self->broken_ = false;
    }
  }

  struct busy {
    explicit busy(tls_stream& of) : of_(of) { of_.flushing_ = true; }
    busy(const busy&) = delete;
    ~busy() {
      of_.flushing_ = false;
      of_.flushed_.notify();
    }
    tls_stream& of_;
  };

  /// Counts bytes as sent unless nothing at all went out below meanwhile.
  struct sent_count {
    sent_count(tls_stream& of, std::uint64_t bytes) : of_(of), bytes_(bytes), before_(of.lower_->written()) {}
    sent_count(const sent_count&) = delete;
    ~sent_count() {
      if (of_.lower_->written() != before_) of_.written_ += bytes_;
    }
    tls_stream& of_;
    std::uint64_t bytes_;
    std::uint64_t before_;
  };

  static task<std::size_t> read_some(std::shared_ptr<tls_stream> self, std::span<char> into) {
    const int size = static_cast<int>(std::min<std::size_t>(into.size(), INT_MAX));
    for (;;) {
      ERR_clear_error();
      const int n = SSL_read(self->ssl_.get(), into.data(), size);
      if (n > 0) co_return static_cast<std::size_t>(n);
      const int wants = SSL_get_error(self->ssl_.get(), n);
      if (wants == SSL_ERROR_ZERO_RETURN) co_return 0;
      if (wants != SSL_ERROR_WANT_READ) throw tls_failure(self->ssl_.get(), self->host_, false);
      // While a writer is at it, it takes along what reading wants to send; waiting for it might be for ever.
      if (!self->flushing_ && !self->broken_) co_await flush(self);
      const bool more = co_await fill(self);
      if (!more) self->fail_cut();
    }
  }

  static task<void> write_all(std::shared_ptr<tls_stream> self, std::string bytes) {
    for (std::size_t at = 0; at < bytes.size();) {
      if (self->broken_ && !self->flushing_) throw std::system_error(EPIPE, std::system_category());
      ERR_clear_error();
      const int size = static_cast<int>(std::min(bytes.size() - at, most_at_once));
      const int n = SSL_write(self->ssl_.get(), bytes.data() + at, size);
      if (n <= 0) throw tls_failure(self->ssl_.get(), self->host_, false);
      at += static_cast<std::size_t>(n);
      const sent_count here(*self, static_cast<std::uint64_t>(n));
      co_await flush(self);
    }
  }

  static task<void> shut(std::shared_ptr<tls_stream> self) {
    ERR_clear_error();
    if (SSL_shutdown(self->ssl_.get()) < 0) throw tls_failure(self->ssl_.get(), self->host_, false);
    co_await flush(self);
  }

  stream_ptr lower_;
  ssl_ptr ssl_;
  std::string host_;
  event flushed_;
  std::string input_;
  bool flushing_ = false;
  bool broken_ = false;
  std::uint64_t written_ = 0;
};

}  // namespace

/// What of a tls_context is needed for a connection.
class tls_connector {
 public:
  static ssl_ptr make(const tls_context& context, const std::string& host) {
    const auto& from = *context.state_;
    ssl_ptr ssl(SSL_new(from.context.get()));
    if (!ssl) throw http_error(phase::tls, false, errc::resource_exhausted, "TLS: " + openssl_reason());
    const std::string& asked = from.server_name.empty() ? host : from.server_name;
    const std::string name = asked.substr(0, asked.find('%'));
    if (!ask_for(ssl.get(), name))
      throw http_error(phase::tls, false, errc::invalid_argument, "TLS: no name that could be checked: " + name);
    return ssl;
  }

 private:
  /// False where the certificate would not be checked for it.
  static bool ask_for(SSL* ssl, const std::string& name) {
    if (is_address(name)) return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1;
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return SSL_set_tlsext_host_name(ssl, name.c_str()) == 1 && SSL_set1_host(ssl, name.c_str()) == 1;
  }
};

task<stream_ptr> start_tls(stream_ptr lower, std::shared_ptr<const tls_context> context, std::string host) {
  auto ssl = tls_connector::make(*context, host);
  const auto executor = co_await asio::this_coro::executor;
  const auto stream = std::make_shared<tls_stream>(executor, std::move(lower), std::move(ssl), std::move(host));
  co_await tls_stream::handshake(stream);
  co_return stream;
}

}  // namespace berth::http
