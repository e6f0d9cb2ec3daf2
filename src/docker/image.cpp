#include "berth/error.hpp"
#include "core/shown_path.hpp"
#include "docker/container.hpp"
#include "docker/image_reference.hpp"
#include "docker/json_stream.hpp"
#include "docker/pull_report.hpp"

#include <sys/utsname.h>

#include <utility>

namespace berth {
namespace {

/// A layer can take its time to unpack, and nothing is said meanwhile.
constexpr std::chrono::minutes silence_of_a_pull{30};

void tell(const pull_progress_function& hook, const pull_progress& now) noexcept {
  if (!hook) return;
  try {
    hook(now);
  } catch (...) {  // as documented
  }
}

/// Of a refusal before anything was streamed the status says less than the text.
error pull_refusal(const std::string& image, const error& failure) {
  const errc code = pull_failure_code(failure.remote());
  if (code == errc::protocol) return failure.within("image " + shown_path(image));
  return error(make_error_code(code), "image " + shown_path(image) + " could not be pulled: " + failure.message(),
               failure.remote());
}

http::request pull_call(const docker_engine& engine, const pull_request& what) {
  const image_reference name = parse_image_reference(what.image);
  http::query_builder query;
  query.add("fromImage", name.full_name()).add("tag", name.tag_or_digest());
  if (!what.platform.empty()) query.add("platform", what.platform);
  http::request call = engine.make_request("POST", query.behind("/images/create"));
  call.body("", "application/json").timeout(silence_of_a_pull).idle_timeout(silence_of_a_pull);
  if (!what.auth.empty()) call.header("X-Registry-Auth", what.auth);
  return call;
}

task<std::unique_ptr<http::response_stream>> begin_pull(std::shared_ptr<docker_engine> engine, http::request call,
                                                        std::string image) {
  try {
    co_return co_await engine->open(std::move(call));
  } catch (const http::http_error&) {
    throw;
  } catch (const error& failure) {
    throw pull_refusal(image, failure);
  }
}

}  // namespace

std::string architecture_of_resident() {
  utsname here{};
  ::uname(&here);
  const std::string machine = here.machine;
  if (machine == "x86_64") return "amd64";
  return machine == "aarch64" ? "arm64" : machine;
}

task<std::optional<docker_image>> find_image(std::shared_ptr<docker_engine> engine, std::string image) {
  const engine_reply reply = co_await engine->try_ask("GET", "/images/" + http::percent_encode_path(image) + "/json");
  if (reply.status() == 404) co_return std::nullopt;
  if (!reply.is_success()) throw engine_failure("image " + shown_path(image), reply.status(), reply.message());
  docker_image found;
  found.id = reply.body().at("Id").as_string();
  found.os = reply.body()["Os"].text();
  found.architecture = reply.body()["Architecture"].text();
  found.user = reply.body()["Config"]["User"].text();
  co_return found;
}

task<void> pull_image(std::shared_ptr<docker_engine> engine, pull_request what) {
  http::request call = pull_call(*engine, what);
  auto beginning = begin_pull(std::move(engine), std::move(call), what.image);
  const auto reply = co_await std::move(beginning);
  json_stream documents;
  pull_report report(what.image);
  for (;;) {
    const std::string piece = co_await reply->next();
    if (piece.empty()) break;
    documents.feed(piece);
    while (const auto one = documents.next()) {
      const auto now = report.read(*one);
      if (now) tell(what.on_progress, *now);
    }
  }
  if (documents.unfinished())
    throw error(make_error_code(errc::lost), "image " + shown_path(what.image) + ": the daemon's report was cut off");
}

}  // namespace berth
