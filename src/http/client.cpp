#include "http/client.hpp"

#include "core/deadline.hpp"
#include "http/exchange.hpp"
#include "http/exchange_stream.hpp"

#include <asio/this_coro.hpp>

#include <fmt/format.h>

#include <utility>

namespace berth::http {
namespace {

using exchange_ptr = std::shared_ptr<exchange>;
using progress_ptr = std::shared_ptr<request_progress>;
using milliseconds = std::chrono::milliseconds;

// The body of a redirect is read so that the connection can be used again, if it is as short as it should be.
constexpr std::size_t redirect_body_limit = 64 * 1024;

bool is_redirect(const response_head& head) {
  const int s = head.status;
  return (s == 301 || s == 302 || s == 303 || s == 307 || s == 308) && head.fields.has("location");
}

task<std::string> collect(exchange_ptr from, std::size_t limit) {
  std::string all;
  const auto length = from->reader().content_length();
  const bool too_long = length && *length > limit;
  for (;;) {
    std::string piece;
    if (!too_long) piece = co_await exchange::next(from);
    if (too_long || all.size() + piece.size() > limit)
      throw http_error(phase::read, true, errc::limit_exceeded,
                       fmt::format("{}: the body of the response has more than {} bytes", from->shown(), limit));
    if (piece.empty()) co_return all;
    if (all.empty())
      all = std::move(piece);
    else
      all += piece;
  }
}

/// What a passed deadline is to the caller: how far the request had come.
task<void> bounded(task<void> work, milliseconds timeout, progress_ptr progress, std::string shown) {
  if (timeout == milliseconds::zero()) {
    co_await std::move(work);
    co_return;
  }
  auto within = ends_within(std::move(work), timeout);
  const bool ended = co_await std::move(within);
  if (ended) co_return;
  throw http_error(
      progress->at, progress->may_have_arrived, errc::timeout,
      fmt::format("{}: no response within {} ms, in phase {}", shown, timeout.count(), to_string(progress->at)));
}

}  // namespace

struct client::state {
  state(asio::any_io_executor on, client_options with)
      : executor(std::move(on)), options(std::move(with)), pool(executor, options.pool) {
    if (!options.proxies && !is_fixed()) options.proxies = proxy_rules::from_environment();
    if (!options.unix_socket.empty() && options.dial)
      throw error(errc::invalid_argument, "client: unix_socket and dial exclude one another");
  }

  bool is_fixed() const { return !options.unix_socket.empty() || options.dial; }

  route route_to(const url& where) {
    route found;
    found.to = where;
    if (is_fixed()) {
      if (where.scheme == "https") throw error(errc::invalid_argument, "client: no https over a fixed connection");
      found.to = url();
      found.to.scheme = "unix";
      found.to.path = options.dial ? "dialed connection" : options.unix_socket;
      return found;
    }
    if (const url* proxy = options.proxies->choose(where)) found.proxy = *proxy;
    const bool needs_tls = where.scheme == "https" || (found.proxy && found.proxy->scheme == "https");
    if (needs_tls && !tls) tls = std::make_shared<const tls_context>(options.tls);
    found.tls = tls;
    return found;
  }

  request_head head_of(const request& what, const route& way) const {
    const url& where = what.where();
    request_head head;
    head.method = what.method();
    head.target = where.target();
    head.fields.add("Host", where.authority());
    for (const auto& each : what.fields()) head.fields.set(each.name, each.value);
    if (!options.user_agent.empty() && !head.fields.has("user-agent"))
      head.fields.add("User-Agent", options.user_agent);
    if (what.expects_continue()) head.fields.set("Expect", "100-continue");
    if (!head.fields.has("authorization") && where.user) head.fields.add("Authorization", *proxy_authorization(where));
    if (!way.proxy || where.scheme == "https") return head;
    head.target = fmt::format("{}://{}{}", where.scheme, where.authority(), where.target());
    if (const auto account = proxy_authorization(*way.proxy)) head.fields.set("Proxy-Authorization", *account);
    return head;
  }

  static task<stream_ptr> connect(std::shared_ptr<state> self, route way);
  static task<exchange_ptr> attempt(std::shared_ptr<state> self, std::shared_ptr<request> what, route way, bool fresh,
                                    progress_ptr progress);
  static task<exchange_ptr> exchange_once(std::shared_ptr<state> self, std::shared_ptr<request> what,
                                          progress_ptr progress);
  static task<exchange_ptr> follow(std::shared_ptr<state> self, std::shared_ptr<request> what, progress_ptr progress);

  static task<void> send_into(std::shared_ptr<state> self, std::shared_ptr<request> what, progress_ptr progress,
                              std::shared_ptr<response> into);
  static task<void> open_into(std::shared_ptr<state> self, std::shared_ptr<request> what, progress_ptr progress,
                              std::shared_ptr<exchange_ptr> into);
  static task<response> send(std::shared_ptr<state> self, request what);
  static task<std::unique_ptr<response_stream>> open(std::shared_ptr<state> self, request what);
  static task<upgrade_result> upgrade(std::shared_ptr<state> self, request what, std::string protocol);

  asio::any_io_executor executor;
  client_options options;
  connection_pool pool;
  std::shared_ptr<const tls_context> tls;
};

task<stream_ptr> client::state::connect(std::shared_ptr<state> self, route way) {
  if (!self->options.dial) co_return co_await open_connection(std::move(way), self->options.connect);
  auto dialing = with_deadline(self->options.dial(), self->options.connect.timeout);
  try {
    co_return co_await std::move(dialing);
  } catch (const http_error&) {
    throw;
  } catch (const error& failed) {
    throw http_error(phase::connect, false, failed.code(), failed.message(), failed.remote());
  } catch (const std::system_error& failed) {
    if (is_cancelled(failed.code())) throw;
    throw http_error(phase::connect, false, failed.code(), "no connection could be made");
  }
}

task<exchange_ptr> client::state::attempt(std::shared_ptr<state> self, std::shared_ptr<request> what, route way,
                                          bool fresh, progress_ptr progress) {
  *progress = request_progress();
  outgoing out;
  out.head = self->head_of(*what, way);
  out.framing = what->framing();
  out.bytes = what->bytes();
  out.expects_continue = what->expects_continue() && out.framing.how != body_framing::kind::none;
  (void)write_head(out.head, out.framing);  // what cannot be sent is refused before a connection is made
  connection_lease lease = co_await self->pool.take(way.key(), fresh);
  const auto shown = way.shown();
  if (!lease.stream()) {
    auto stream = co_await connect(self, std::move(way));
    lease.put(std::move(stream));
  }
  const bool streamed = what->has_source();
  out.source = what->take_source();
  const auto one = std::make_shared<exchange>(self->executor, std::move(lease), shown, what->method(),
                                              what->idle_timeout(), progress);
  try {
    co_await exchange::begin(one, std::move(out));
  } catch (const http_error& failed) {
    const bool kept_one_broke = one->reused() && !one->answered() && failed.code() != errc::timeout &&
                                (failed.at() == phase::write || failed.at() == phase::read);
    const bool repeatable = is_safe_method(what->method()) || !failed.may_have_arrived();
    if (kept_one_broke && repeatable && !streamed) co_return nullptr;
    throw;
  }
  co_return one;
}

task<exchange_ptr> client::state::exchange_once(std::shared_ptr<state> self, std::shared_ptr<request> what,
                                                progress_ptr progress) {
  const route way = self->route_to(what->where());
  auto first = co_await attempt(self, what, way, false, progress);
  if (first) co_return first;
  co_return co_await attempt(self, what, way, true, progress);
}

task<exchange_ptr> client::state::follow(std::shared_ptr<state> self, std::shared_ptr<request> what,
                                         progress_ptr progress) {
  const bool reads = what->method() == "GET" || what->method() == "HEAD";
  const bool may_follow = reads && what->framing().how == body_framing::kind::none;
  for (std::size_t followed = 0;; ++followed) {
    auto one = co_await exchange_once(self, what, progress);
    if (!may_follow || what->redirects() == 0 || !is_redirect(one->head())) co_return one;
    const std::string location(*one->head().fields.find("location"));
    const auto shown = one->shown();
    if (followed == what->redirects())
      throw http_error(phase::protocol, true, errc::limit_exceeded,
                       fmt::format("{}: more than {} redirects", shown, followed));
    const auto length = one->reader().content_length();
    if (length && *length <= redirect_body_limit) (void)co_await collect(one, redirect_body_limit);
    one.reset();
    url next;
    try {
      next = resolve_reference(what->where(), location);
    } catch (const error& wrong) {
      throw http_error(phase::protocol, true, errc::protocol, fmt::format("{}: redirect: {}", shown, wrong.message()));
    }
    if (what->where().scheme == "https" && next.scheme != "https")
      throw http_error(phase::protocol, true, errc::protocol,
                       fmt::format("{}: a redirect from https to plain http", shown));
    if (!next.scheme.starts_with("http") || (self->is_fixed() && !next.same_origin(what->where())))
      throw http_error(phase::protocol, true, errc::protocol,
                       fmt::format("{}: a redirect that leads elsewhere", shown));
    what->move_to(std::move(next));
  }
}

task<void> client::state::send_into(std::shared_ptr<state> self, std::shared_ptr<request> what, progress_ptr progress,
                                    std::shared_ptr<response> into) {
  const auto one = co_await follow(self, what, std::move(progress));
  auto body = co_await collect(one, what->body_limit());
  *into = response(one->head(), std::move(body), one->trailers());
}

task<void> client::state::open_into(std::shared_ptr<state> self, std::shared_ptr<request> what, progress_ptr progress,
                                    std::shared_ptr<exchange_ptr> into) {
  *into = co_await follow(self, what, std::move(progress));
}

task<response> client::state::send(std::shared_ptr<state> self, request what) {
  const auto shared = std::make_shared<request>(std::move(what));
  const auto progress = std::make_shared<request_progress>();
  const auto into = std::make_shared<response>();
  const auto shown = self->route_to(shared->where()).shown();
  co_await bounded(send_into(self, shared, progress, into), shared->timeout(), progress, shown);
  co_return std::move(*into);
}

task<std::unique_ptr<response_stream>> client::state::open(std::shared_ptr<state> self, request what) {
  const auto shared = std::make_shared<request>(std::move(what));
  const auto progress = std::make_shared<request_progress>();
  const auto into = std::make_shared<exchange_ptr>();
  const auto shown = self->route_to(shared->where()).shown();
  co_await bounded(open_into(self, shared, progress, into), shared->timeout(), progress, shown);
  co_return std::make_unique<response_stream>(std::move(*into));
}

task<upgrade_result> client::state::upgrade(std::shared_ptr<state> self, request what, std::string protocol) {
  if (what.has_source()) throw error(errc::invalid_argument, "upgrade: the body of the request cannot be a stream");
  what.header("Connection", "Upgrade").header("Upgrade", protocol).redirects(0);
  const auto timeout = what.timeout();
  const auto limit = what.body_limit();
  const auto shown = self->route_to(what.where()).shown();
  const auto shared = std::make_shared<request>(std::move(what));
  const auto progress = std::make_shared<request_progress>();
  const auto into = std::make_shared<exchange_ptr>();
  co_await bounded(open_into(self, shared, progress, into), timeout, progress, shown);
  const auto one = std::move(*into);
  const auto head = one->head();
  const bool endless = head.is_success() && head.status != 204 && !one->reader().content_length();
  if (head.status == 101 || (endless && !one->reader().chunked())) co_return upgrade_result(head, one->detach());
  if (endless) co_return upgrade_result(head, make_exchange_stream(one));
  auto refusal = co_await collect(one, limit);
  co_return upgrade_result(head, std::move(refusal));
}

client::client(asio::any_io_executor executor, client_options options)
    : state_(std::make_shared<state>(std::move(executor), std::move(options))) {}
client::client(client&&) noexcept = default;
client& client::operator=(client&&) noexcept = default;
client::~client() = default;

task<response> client::send(request what) { return state::send(state_, std::move(what)); }

task<std::unique_ptr<response_stream>> client::open(request what) { return state::open(state_, std::move(what)); }

task<upgrade_result> client::upgrade(request what, std::string protocol) {
  return state::upgrade(state_, std::move(what), std::move(protocol));
}

std::size_t client::idle_connections() const noexcept { return state_->pool.idle(); }

const response_head& response_stream::head() const noexcept { return from_->head(); }

const headers& response_stream::trailers() const noexcept { return from_->trailers(); }

task<std::string> response_stream::next() { return exchange::next(from_); }

task<std::string> response_stream::rest(std::size_t limit) { return collect(from_, limit); }

}  // namespace berth::http
