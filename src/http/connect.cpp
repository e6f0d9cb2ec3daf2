#include "http/connect.hpp"

#include "core/deadline.hpp"
#include "http/address_connect.hpp"
#include "http/proxy.hpp"
#include "http/response_reader.hpp"

#include <asio/error.hpp>
#include <asio/this_coro.hpp>

#include <fmt/format.h>

#include <array>
#include <span>
#include <utility>

namespace berth::http {
namespace {

using clock = std::chrono::steady_clock;

/// Reads the proxy's answer to CONNECT; nothing may come behind it before we speak.
task<void> read_answer(stream_ptr stream, std::string proxy) {
  response_reader reader("CONNECT");
  std::array<char, 4096> buffer;
  for (auto found = response_reader::event::need_more; found != response_reader::event::head; found = reader.next()) {
    if (found != response_reader::event::need_more) continue;
    const std::span<char> into(buffer);
    const std::size_t n = co_await stream->read(into);
    if (n == 0) reader.finish();
    reader.feed(std::string_view(buffer.data(), n));
  }
  const auto& head = reader.head();
  const auto refused = fmt::format("the proxy {} refuses the connection with {}", proxy, head.status);
  if (head.status == 407) throw http_error(phase::connect, false, errc::unauthorized, refused, head.reason);
  if (!head.is_success()) throw http_error(phase::connect, false, errc::unavailable, refused, head.reason);
  if (!reader.take_rest().empty())
    throw http_error(phase::connect, false, errc::protocol, fmt::format("the proxy {} speaks unasked", proxy));
}

task<void> tunnel(stream_ptr stream, url to, url proxy) {
  request_head head;
  head.method = "CONNECT";
  head.target = host_and_port(to.host.substr(0, to.host.find('%')), to.effective_port());
  head.fields.add("Host", head.target);
  if (const auto account = proxy_authorization(proxy)) head.fields.add("Proxy-Authorization", *account);
  const auto shown = proxy.authority();
  std::string bytes = write_head(head, body_framing());
  try {
    co_await stream->write(std::move(bytes));
    co_await read_answer(stream, shown);
  } catch (const http_error& failed) {
    throw http_error(phase::connect, false, failed.code(), failed.message(), failed.remote());
  } catch (const std::system_error& failed) {
    if (is_cancelled(failed.code())) throw;
    throw http_error(phase::connect, false, failed.code(), fmt::format("the proxy {}", shown));
  }
}

task<stream_ptr> connect_to_host(url to, connect_options options, clock::time_point deadline,
                                 std::shared_ptr<connect_progress> now) {
  if (to.effective_port() == 0) throw error(errc::invalid_argument, "URL: a port is needed: " + to.shown());
  now->at = phase::resolve;
  auto addresses = co_await addresses_of(to, options);
  now->at = phase::connect;
  co_return co_await connect_in_turn(std::move(addresses), to, deadline, now);
}

task<stream_ptr> run_tls(stream_ptr stream, route where, std::string host, std::shared_ptr<connect_progress> now) {
  now->at = phase::tls;
  if (!where.tls) throw error(errc::internal, "no TLS for " + where.shown());
  const auto shown = where.shown();
  try {
    co_return co_await start_tls(std::move(stream), where.tls, std::move(host));
  } catch (const http_error&) {
    throw;
  } catch (const std::system_error& failed) {
    if (is_cancelled(failed.code())) throw;
    throw http_error(phase::tls, false, failed.code(), "TLS with " + shown);
  }
}

task<stream_ptr> open_phases(route where, connect_options options, clock::time_point deadline,
                             std::shared_ptr<connect_progress> now) {
  if (where.to.scheme == "unix") co_return co_await connect_unix(where.to.path);
  const url first = where.proxy ? *where.proxy : where.to;
  auto stream = co_await connect_to_host(first, std::move(options), deadline, now);
  if (where.proxy && where.proxy->scheme == "https") stream = co_await run_tls(stream, where, first.host, now);
  if (where.to.scheme != "https") co_return stream;
  if (where.proxy) {
    now->at = phase::connect;
    co_await tunnel(stream, where.to, *where.proxy);
  }
  stream = co_await run_tls(stream, where, where.to.host, now);
  co_return stream;
}

}  // namespace

std::string route::shown() const {
  if (to.scheme == "unix") return to.path;
  const auto host = host_and_port(to.host, to.effective_port());
  return proxy ? fmt::format("{} through {}", host, host_and_port(proxy->host, proxy->effective_port())) : host;
}

std::string route::key() const {
  const std::string through = proxy ? proxy->text() : std::string();
  if (to.scheme == "unix") return "unix " + to.path;
  // Through a proxy every plain target shares connections.
  if (proxy && to.scheme != "https") return "proxy " + through;
  return fmt::format("{} {} {}", to.scheme == "https" ? "tls" : "tcp", host_and_port(to.host, to.effective_port()),
                     through);
}

task<stream_ptr> open_connection(route where, connect_options options) {
  if (options.timeout <= std::chrono::milliseconds::zero())
    throw error(errc::invalid_argument, "connect: the timeout must be above 0");
  const auto now = std::make_shared<connect_progress>();
  const auto shown = where.shown();
  const auto timeout = options.timeout;
  const auto deadline = clock::now() + timeout;
  auto work = open_phases(std::move(where), std::move(options), deadline, now);
  try {
    co_return co_await with_deadline(std::move(work), timeout);
  } catch (const http_error&) {
    throw;
  } catch (const error& failed) {
    if (failed.code() != errc::timeout) throw;
    const auto tried = now->at == phase::connect && !now->tried.empty() ? " (" + now->tried + ")" : std::string();
    const auto late =
        fmt::format("{}: no connection within {} ms, in phase {}{}", shown, timeout.count(), to_string(now->at), tried);
    throw http_error(now->at, false, errc::timeout, late);
  }
}

}  // namespace berth::http
