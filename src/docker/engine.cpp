#include "docker/engine.hpp"

#include "berth/error.hpp"
#include "core/text.hpp"

#include <charconv>
#include <utility>

namespace berth {
namespace {

constexpr std::chrono::seconds greeting_takes{10};

/// Of a body that may be anything: a proxy's page, an old daemon's plain text.
json document_of(int status, const std::string& body) {
  if (body.empty()) return nullptr;
  try {
    return json::parse(body);
  } catch (const error&) {
    if (status < 300) throw;
    return json_object{{"message", body}};
  }
}

http::client_options client_options_of(const asio::any_io_executor& executor, const daemon_address& address,
                                       const std::shared_ptr<ssh_voice>& voice) {
  http::client_options options;
  options.connect.timeout = greeting_takes;
  const http::url where = http::parse_url(address.url);
  if (where.scheme == "unix") {
    options.unix_socket = where.path;
    options.proxies = http::proxy_rules();
  } else if (where.scheme == "ssh") {
    options.dial = ssh_dialer(executor, where, voice);
    options.proxies = http::proxy_rules();
  }
  if (address.tls) {
    options.tls.verify = address.tls->verify;
    options.tls.authorities.text = address.tls->authority;
    options.tls.certificate.text = address.tls->certificate;
    options.tls.key.text = address.tls->key;
  }
  return options;
}

std::string base_of(const daemon_address& address) {
  const http::url where = http::parse_url(address.url);
  if (where.scheme == "unix" || where.scheme == "ssh") return "http://docker";
  const std::string scheme = address.tls || where.scheme == "https" ? "https://" : "http://";
  const std::uint16_t usual = address.tls ? 2376 : 2375;
  return scheme + http::host_and_port(where.host, where.port != 0 ? where.port : usual);
}

errc code_of_status(int status) noexcept {
  switch (status) {
    case 400:
      return errc::invalid_argument;
    case 401:
      return errc::unauthorized;
    case 403:
      return errc::permission_denied;
    case 404:
      return errc::not_found;
    case 409:
      return errc::conflict;
    case 429:
      return errc::rate_limited;
    default:
      return status >= 500 ? errc::unavailable : errc::protocol;
  }
}

http::request with_body(http::request what, const json& body) {
  if (!body.is_null()) {
    what.body(body.dump(), "application/json");
  } else if (what.method() == "POST") {
    what.body("", "application/json");
  }
  return what;
}

std::string shown_call(const std::string& method, const std::string& path) {
  return method + " " + path.substr(0, path.find('?'));
}

std::string cure_of(const std::error_code& code, const daemon_address& address) {
  if (code == std::errc::permission_denied && address.url.starts_with("unix://"))
    return " (this user may not use the socket: root and the group docker may)";
  return {};
}

}  // namespace

api_version parse_api_version(std::string_view text) {
  api_version found;
  const char* const end = text.data() + text.size();
  const auto major_part = std::from_chars(text.data(), end, found.major_number);
  const bool has_point = major_part.ec == std::errc() && major_part.ptr != end && *major_part.ptr == '.';
  const auto minor_part = std::from_chars(major_part.ptr + (has_point ? 1 : 0), end, found.minor_number);
  if (!has_point || minor_part.ec != std::errc() || minor_part.ptr != end || found.major_number < 1)
    throw error(make_error_code(errc::protocol), "docker: '" + to_text(text) + "' is no version of the API");
  return found;
}

std::string engine_reply::message() const {
  const std::string* text = body_["message"].if_string();
  return text != nullptr ? *text : std::string();
}

error engine_failure(const std::string& what, int status, const std::string& text) {
  constexpr std::size_t longest = 500;
  std::string shown = to_text(text.substr(0, utf8_floor(text, longest)));
  while (!shown.empty() && (shown.back() == '\n' || shown.back() == '\r')) shown.pop_back();
  const std::string said = shown.empty() ? "status " + std::to_string(status) : shown;
  return error(make_error_code(code_of_status(status)), "docker: " + what + ": " + said, text);
}

docker_engine::docker_engine(asio::any_io_executor executor, daemon_address address)
    : address_(std::move(address)),
      base_(base_of(address_)),
      client_(std::make_shared<http::client>(executor, client_options_of(executor, address_, ssh_))) {}

http::request docker_engine::make_request(std::string method, const std::string& path) const {
  http::request made(std::move(method), base_ + "/v" + version_.text() + path);
  made.redirects(0);
  return made;
}

task<std::shared_ptr<docker_engine>> docker_engine::connect(asio::any_io_executor executor,
                                                            std::vector<daemon_address> candidates,
                                                            std::string pinned) {
  std::string tried;
  for (daemon_address& each : candidates) {
    const std::string url = each.url;
    const std::string from = each.from;
    const auto engine = std::make_shared<docker_engine>(executor, std::move(each));
    try {
      co_await greet(engine, pinned);
      co_return engine;
    } catch (const error& failure) {
      if (is_cancelled(failure.code()) || failure.code() == errc::unsupported) throw;
      tried += (tried.empty() ? "" : "; ") + url + " (" + from + "): " + failure.what() +
               cure_of(failure.code(), engine->address());
      if (const std::string words = engine->ssh_->words(); !words.empty()) tried += " (ssh says: " + words + ")";
    }
  }
  throw error(make_error_code(errc::unavailable), "no Docker daemon answers: " + tried);
}

task<void> docker_engine::greet(std::shared_ptr<docker_engine> self, std::string pinned) {
  http::request ping("GET", self->base_ + "/_ping");
  ping.timeout(greeting_takes);
  const http::response reply = co_await self->client_->send(std::move(ping));
  if (!reply.is_success()) throw engine_failure("ping", reply.status(), reply.body());
  const auto theirs = reply.fields().find("Api-Version");
  if (!theirs) throw error(make_error_code(errc::protocol), "what answers is no Docker daemon: no Api-Version");
  const api_version offered = parse_api_version(*theirs);
  if (offered < oldest)
    throw error(make_error_code(errc::unsupported), "the Docker daemon at " + self->address_.url + " speaks version " +
                                                        offered.text() + " of the API; " + oldest.text() +
                                                        " (Docker 20.10) or later is needed");
  self->version_ = pinned.empty() ? std::min(offered, newest) : parse_api_version(pinned);
  self->is_podman_ = reply.fields().has("Libpod-API-Version");
}

task<engine_reply> docker_engine::send(std::shared_ptr<http::client> client, http::request what) {
  http::response reply = co_await client->send(std::move(what));
  const int status = reply.status();
  json body = document_of(status, reply.body());
  co_return engine_reply(status, std::move(body));
}

task<json> docker_engine::send_and_check(std::shared_ptr<http::client> client, http::request what, std::string shown) {
  const engine_reply reply = co_await send(std::move(client), std::move(what));
  if (!reply.is_success()) throw engine_failure(shown, reply.status(), reply.message());
  co_return reply.body();
}

task<json> docker_engine::ask(std::string method, std::string path, json body) {
  std::string shown = shown_call(method, path);
  return send_and_check(client_, with_body(make_request(std::move(method), path), body), std::move(shown));
}

task<engine_reply> docker_engine::try_ask(std::string method, std::string path, json body) {
  return send(client_, with_body(make_request(std::move(method), path), body));
}

task<std::unique_ptr<http::response_stream>> docker_engine::open_with(std::shared_ptr<http::client> client,
                                                                      http::request what) {
  std::string shown = shown_call(what.method(), what.where().path);
  auto reply = co_await client->open(std::move(what));
  if (reply->status() >= 300) {
    constexpr std::size_t most = 65536;
    const int status = reply->status();
    const std::string body = co_await reply->rest(most);
    const engine_reply refusal(status, document_of(status, body));
    throw engine_failure(shown, status, refusal.message());
  }
  co_return reply;
}

task<std::unique_ptr<http::response_stream>> docker_engine::open(http::request what) {
  return open_with(client_, std::move(what));
}

task<http::stream_ptr> docker_engine::hijack_with(std::shared_ptr<http::client> client, http::request what,
                                                  std::string shown) {
  const http::upgrade_result result = co_await client->upgrade(std::move(what), "tcp");
  if (!result.stream()) {
    const engine_reply refusal(result.status(), document_of(result.status(), result.refusal()));
    throw engine_failure(shown, result.status(), refusal.message());
  }
  co_return result.stream();
}

task<http::stream_ptr> docker_engine::hijack(std::string path, json body) {
  std::string shown = shown_call("POST", path);
  return hijack_with(client_, with_body(make_request("POST", path), body), std::move(shown));
}

}  // namespace berth
