#include "docker/container.hpp"

#include "berth/error.hpp"
#include "core/deadline.hpp"
#include "core/text.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <utility>

namespace berth {
namespace {

constexpr std::chrono::seconds removal_takes{20};
constexpr std::chrono::seconds creation_takes{10};  // from a cancellation on
constexpr std::chrono::minutes transfer_takes{30};

std::string path_of(const std::string& id, std::string_view what) {
  return "/containers/" + http::percent_encode(id) + std::string(what);
}

http::request archive_request(const docker_engine& engine, const std::string& id, const std::string& directory) {
  http::query_builder query;
  query.add("path", directory).add("noOverwriteDirNonDir", "1");
  http::request put = engine.make_request("PUT", query.behind(path_of(id, "/archive")));
  put.timeout(transfer_takes);
  return put;
}

task<void> send(std::shared_ptr<docker_engine> engine, http::request what) {
  constexpr std::size_t most = 65536;
  const auto reply = co_await engine->open(std::move(what));
  (void)co_await reply->rest(most);
}

}  // namespace

task<container> container::create(std::shared_ptr<docker_engine> engine, json spec, std::string name,
                                  std::string platform) {
  http::query_builder query;
  if (!name.empty()) query.add("name", name);
  if (!platform.empty()) query.add("platform", platform);
  // A daemon makes one whose asker is gone, or leaves its volumes: nobody would know whose they are.
  auto asking = engine->ask("POST", query.behind("/containers/create"), std::move(spec));
  auto making = with_patience(std::move(asking), creation_takes);
  const json made = co_await std::move(making);
  co_return container(std::move(engine), made.at("Id").as_string());
}

task<void> container::start_one(container self) {
  const engine_reply reply = co_await self.engine_->try_ask("POST", path_of(self.id_, "/start"));
  if (reply.is_success()) co_return;
  const error failure = engine_failure("the container could not be started", reply.status(), reply.message());
  if (reply.status() == 404) throw failure;
  throw error(make_error_code(errc::start_failed), failure.message(), failure.remote());
}

task<void> container::start() const { return start_one(*this); }

task<void> container::upload_to(container self, std::string directory, std::string tar) {
  http::request put = archive_request(*self.engine_, self.id_, directory);
  put.body(std::move(tar), "application/x-tar");
  co_await send(self.engine_, std::move(put));
}

task<void> container::upload(std::string directory, std::string tar) const {
  return upload_to(*this, std::move(directory), std::move(tar));
}

task<void> container::unpack_to(container self, std::string directory, std::unique_ptr<byte_source> tar) {
  http::request put = archive_request(*self.engine_, self.id_, directory);
  put.body(std::move(tar), std::nullopt, "application/x-tar");
  co_await send(self.engine_, std::move(put));
}

task<void> container::unpack(std::string directory, std::unique_ptr<byte_source> tar) const {
  return unpack_to(*this, std::move(directory), std::move(tar));
}

task<std::string> container::download_from(container self, std::string path, std::size_t limit) {
  http::query_builder query;
  query.add("path", path);
  http::request get = self.engine_->make_request("GET", query.behind(path_of(self.id_, "/archive")));
  get.timeout(transfer_takes);
  const auto reply = co_await self.engine_->open(std::move(get));
  co_return co_await reply->rest(limit);
}

task<std::string> container::download(std::string path, std::size_t limit) const {
  return download_from(*this, std::move(path), limit);
}

task<std::optional<archive_stat>> container::stat_of(container self, std::string path) {
  http::query_builder query;
  query.add("path", path);
  http::request head = self.engine_->make_request("HEAD", query.behind(path_of(self.id_, "/archive")));
  std::unique_ptr<http::response_stream> reply;
  try {
    reply = co_await self.engine_->open(std::move(head));
  } catch (const error& failure) {
    if (failure.code() != errc::not_found) throw;
  }
  if (!reply) co_return std::nullopt;
  const auto told = reply->fields().find("X-Docker-Container-Path-Stat");
  if (!told) throw error(make_error_code(errc::protocol), "docker: a file's state without its header");
  const json fields = json::parse(base64_decode(*told));
  archive_stat found;
  found.size = static_cast<std::uint64_t>(fields["size"].if_int().value_or(0));
  found.mode = static_cast<std::uint32_t>(fields["mode"].if_int().value_or(0));
  found.modified = fields["mtime"].text();
  found.target = fields["linkTarget"].text();
  co_return found;
}

task<std::optional<archive_stat>> container::stat(std::string path) const { return stat_of(*this, std::move(path)); }

task<http::stream_ptr> container::attach() const {
  return engine_->hijack(path_of(id_, "/attach?stream=1&stdin=1&stdout=1&stderr=1"));
}

task<http::stream_ptr> container::attach_input() const {
  return engine_->hijack(path_of(id_, "/attach?stream=1&stdin=1"));
}

task<std::optional<json>> container::inspect_one(container self) {
  const engine_reply reply = co_await self.engine_->try_ask("GET", path_of(self.id_, "/json"));
  if (reply.status() == 404) co_return std::nullopt;
  if (!reply.is_success()) throw engine_failure("inspect of a container", reply.status(), reply.message());
  co_return reply.body();
}

task<std::optional<json>> container::inspect() const { return inspect_one(*this); }

task<std::optional<container_state>> container::state_of(container self) {
  const std::optional<json> all = co_await inspect_one(std::move(self));
  if (!all) co_return std::nullopt;
  const json& told = (*all)["State"];
  container_state found;
  found.status = told["Status"].text();
  found.running = told["Running"].if_bool().value_or(false);
  found.paused = told["Paused"].if_bool().value_or(false);
  found.oom_killed = told["OOMKilled"].if_bool().value_or(false);
  found.exit_code = static_cast<int>(told["ExitCode"].if_int().value_or(0));
  co_return found;
}

task<std::optional<container_state>> container::state() const { return state_of(*this); }

task<void> container::remove_one(container self) {
  constexpr int most_tries = 20;
  constexpr std::chrono::milliseconds between_tries{100};
  asio::steady_timer timer(co_await asio::this_coro::executor);
  for (int tries = 1;; ++tries) {
    const engine_reply reply = co_await self.engine_->try_ask("DELETE", path_of(self.id_, "?force=1&v=1"));
    if (reply.is_success() || reply.status() == 404) co_return;
    if (reply.status() == 409) break;
    // "Could not kill ..., cannot remove - Container ... is not running": it ends at this very moment (dockerd 20.10).
    const bool is_ending = reply.status() == 500 && reply.message().find("is not running") != std::string::npos;
    if (!is_ending || tries == most_tries)
      throw engine_failure("removal of a container", reply.status(), reply.message());
    timer.expires_after(between_tries);
    co_await timer.async_wait(asio::use_awaitable);
  }
  // AutoRemove is at it already, and not through yet.
  auto removed = self.engine_->try_ask("POST", path_of(self.id_, "/wait?condition=removed"));
  auto bounded = with_deadline(std::move(removed), removal_takes);
  co_await std::move(bounded);
}

task<void> container::remove() const { return remove_one(*this); }

}  // namespace berth
