/// Against a real daemon and real registries.
#include "docker/container.hpp"
#include "docker/real_daemon.hpp"
#include "docker/registry_login.hpp"

#include <berth/error.hpp>

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;

namespace {

struct failed {
  std::error_code code;
  std::string message;
};

task<failed> failure_in(task<void> work) {
  failed found;
  try {
    co_await std::move(work);
  } catch (const error& caught) {
    found.code = caught.code();
    found.message = caught.what();
  }
  co_return found;
}

docker_context_options busybox() {
  docker_context_options options;
  options.image = "test/busybox:1";
  return options;
}

json sleeping_container() {
  container_fittings fittings;
  fittings.entrypoint = {"sleep", "1000"};
  return container_spec(busybox(), fittings);
}

task<void> pull(std::shared_ptr<docker_engine> engine, std::string image, std::string auth = {},
                pull_progress_function on_progress = {}) {
  pull_request what;
  what.image = std::move(image);
  what.auth = std::move(auth);
  what.on_progress = std::move(on_progress);
  return pull_image(std::move(engine), std::move(what));
}

task<void> forget_image(std::shared_ptr<docker_engine> engine, std::string image) {
  co_await engine->try_ask("DELETE", "/images/" + image);
}

}  // namespace

DOCKER_TEST("engine: greets, and agrees on a version") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  CHECK(engine->version() >= docker_engine::oldest);
  CHECK(engine->version() <= docker_engine::newest);
  const json info = co_await engine->ask("GET", "/version");
  CHECK_FALSE(info.at("ApiVersion").as_string().empty());
}

DOCKER_TEST("engine: daemons are tried in order, and all that failed are named") {
  std::vector<daemon_address> all;
  all.push_back(daemon_address{"unix:///nowhere/docker.sock", "first", std::nullopt});
  all.push_back(daemon.front());
  const auto engine = co_await docker_engine::connect(io.get_executor(), all);
  CHECK(engine->address().url == daemon.front().url);
  all.back().url = "tcp://127.0.0.1:1";
  std::string message;
  try {
    co_await docker_engine::connect(io.get_executor(), all);
  } catch (const error& failure) {
    CHECK(failure.code() == errc::unavailable);
    message = failure.message();
  }
  CHECK(message.find("/nowhere/docker.sock (first)") != std::string::npos);
  CHECK(message.find("tcp://127.0.0.1:1") != std::string::npos);
  CHECK(message.find('\n') == std::string::npos);
}

DOCKER_TEST("engine: a container from its making to its end") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  const container made = co_await container::create(engine, sleeping_container(), "", "");
  const auto before = co_await made.state();
  REQUIRE(before);
  CHECK(before->status == "created");
  co_await made.upload("/tmp", tar_of_file("there", "bytes", 0755));
  co_await made.start();
  const auto during = co_await made.state();
  REQUIRE(during);
  CHECK(during->running);
  co_await made.remove();
  co_await made.remove();
  CHECK_FALSE(co_await made.state());
}

DOCKER_TEST("engine: a program that is not there is a failed start, and an image that is not there is not found") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  container_fittings fittings;
  fittings.entrypoint = {"/nowhere"};
  const container made = co_await container::create(engine, container_spec(busybox(), fittings), "", "");
  auto starting = made.start();
  const failed start = co_await failure_in(std::move(starting));
  CHECK(start.code == errc::start_failed);
  CHECK(start.message.find("/nowhere") != std::string::npos);
  co_await made.remove();
  CHECK_FALSE(co_await find_image(engine, "test/nothing:1"));
  const auto image = co_await find_image(engine, "test/busybox:1");
  REQUIRE(image);
  CHECK(image->os == "linux");
}

DOCKER_TEST("engine: the streams of a first process, attached to before the start") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  container_fittings fittings;
  fittings.entrypoint = {"cat"};
  fittings.stdin_open = true;
  const container made = co_await container::create(engine, container_spec(busybox(), fittings), "", "");
  const http::stream_ptr stream = co_await made.attach();
  co_await made.start();
  co_await stream->write("hello");
  char bytes[64];
  std::string seen;
  while (seen.find("hello") == seen.npos) {
    const std::size_t n = co_await stream->read(bytes);
    if (n == 0) break;
    seen.append(bytes, n);
  }
  CHECK(seen == std::string("\x01\0\0\0\0\0\0\x05hello", 13));
  stream->close();
  co_await made.remove();
}

DOCKER_TEST("pull: from a registry, with progress") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  const std::string image = variable("BERTH_TEST_REGISTRY") + "/test/busybox:1";
  int told = 0;
  const pull_progress_function count = [&told](const pull_progress& now) {
    CHECK_FALSE(now.status.empty());
    ++told;
  };
  auto pulling = pull(engine, image, {}, count);
  co_await std::move(pulling);
  CHECK(told > 1);
  CHECK(co_await find_image(engine, image));
  co_await forget_image(engine, image);
}

DOCKER_TEST("pull: what fails is told by its kind") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  struct wanted {
    std::string image;
    errc code;
  };
  const std::string open = variable("BERTH_TEST_REGISTRY");
  const wanted all[] = {{open + "/test/busybox:missing", errc::not_found},
                        {open + "/test/nothing:1", errc::not_found},
                        {"127.0.0.1:1/test/busybox:1", errc::unavailable},
                        {variable("BERTH_TEST_PRIVATE") + "/test/busybox:1", errc::unauthorized}};
  for (const wanted& each : all) {
    CAPTURE(each.image);
    auto pulling = pull(engine, each.image);
    const failed found = co_await failure_in(std::move(pulling));
    CHECK(found.code == each.code);
    CHECK(found.message.find(each.image) != std::string::npos);
  }
}

DOCKER_TEST("pull: a private registry, with the right password and a wrong one") {
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  const std::string server = variable("BERTH_TEST_PRIVATE");
  const std::string image = server + "/test/busybox:1";
  auto wrong = pull(engine, image, registry_auth_header({"berth", "wrong", ""}, server));
  const failed refused = co_await failure_in(std::move(wrong));
  CHECK(refused.code == errc::unauthorized);
  CHECK(refused.message.find("wrong") == std::string::npos);
  auto right = pull(engine, image, registry_auth_header({"berth", "secret", ""}, server));
  co_await std::move(right);
  CHECK(co_await find_image(engine, image));
  co_await forget_image(engine, image);
}
