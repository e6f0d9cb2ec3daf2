/// Containers as places, against a real daemon.
#include "docker/places.hpp"
#include "docker/socket_offer.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <berth/context.hpp>
#include <berth/error.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <iterator>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

docker_context_options container_of_image(const std::vector<daemon_address>& daemon, std::string image) {
  docker_context_options options = small_container(daemon.front().url);
  options.image = std::move(image);
  return options;
}

task<void> try_place(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  context place = make_place(io, small_container(daemon.front().url), try_socket);
  const handle where = co_await place.spawn();
  CHECK(where.cwd() == "/workspace");
  const exec_result result = co_await place.exec(where, command("pwd; echo err >&2; exit 3"));
  CHECK(result.std_out == "/workspace\n");
  CHECK(result.std_err == "err\n");
  CHECK(result.status.code() == 3);
  const exec_result much = co_await place.exec(where, command("head -c 3000000 /dev/zero"));
  CHECK(much.out.seen() == 3000000);
  co_await place.write_file(where, "sub/file", "bytes");
  const std::string read = co_await place.read_file(where, "sub/file");
  CHECK(read == "bytes");
  const exec_result seen = co_await place.exec(where, command("cat /workspace/sub/file"));
  CHECK(seen.std_out == "bytes");
  CHECK(co_await containers_of(io, daemon, ::getpid()) == 1);
  co_await place.destroy(where);
  CHECK(co_await containers_of(io, daemon, ::getpid()) == 0);
}

}  // namespace

DOCKER_TEST("docker: a command in a container, its pipes handed over") { co_await try_place(io, daemon, true); }

DOCKER_TEST("docker: a command in a container, over frames") { co_await try_place(io, daemon, false); }

DOCKER_TEST("docker: an image without a shell runs programs") {
  context place = make_place(io, container_of_image(daemon, "test/scratch:1"), true);
  const handle where = co_await place.spawn();
  const exec_result good = co_await place.exec(where, argv("/busybox", "echo", "hi"));
  CHECK(good.std_out == "hi\n");
  const exec_result bad = co_await place.exec(where, command("echo hi"));
  CHECK(bad.status.reason() == end_reason::start_failed);
  CHECK(bad.status.code() == 127);
  co_await place.destroy(where);
}

DOCKER_TEST("docker: an image of another architecture is refused before it runs") {
  context place = make_place(io, container_of_image(daemon, "test/other-arch:1"), true);
  std::string message;
  try {
    co_await place.spawn();
  } catch (const error& failure) {
    CHECK(failure.code() == errc::unsupported);
    message = failure.message();
  }
  CHECK(message.find("test/other-arch:1") != std::string::npos);
  CHECK(co_await containers_of(io, daemon, ::getpid()) == 0);
}

DOCKER_TEST("docker: a context that goes without a destroy leaves no container") {
  {
    context place = make_place(io, small_container(daemon.front().url), true);
    co_await place.spawn();
  }
  CHECK(co_await containers_left_of(io, daemon, ::getpid()) == 0);
}

DOCKER_TEST("docker: `docker cp` reaches the files of a container") {
  docker_context_options options = small_container(daemon.front().url);
  options.name = "berth-cp-" + std::to_string(::getpid());
  context place = make_place(io, options, true);
  const handle where = co_await place.spawn();
  co_await place.write_file(where, "file", "bytes");
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  http::request get = engine->make_request("GET", "/containers/" + options.name + "/archive?path=/workspace/file");
  const auto reply = co_await engine->open(std::move(get));
  const std::string tar = co_await reply->rest(100000);
  CHECK(tar.find("bytes") != std::string::npos);
  co_await place.destroy(where);
}

TEST_CASE("docker: the socket that a killed owner left is removed, that of a living one is not") {
  const temp_dir dir;
  const variable_is temporary("TMPDIR", dir.path().string());
  const auto left = dir.path() / "berth-socket-gone";
  std::filesystem::create_directory(left);
  write_whole_file(left / "s", "");
  const auto fresh = dir.path() / "berth-socket-new";
  std::filesystem::create_directory(fresh);
  asio::io_context io;
  {
    const socket_offer living(io.get_executor());
    const auto long_ago = std::filesystem::file_time_type::clock::now() - std::chrono::hours(1);
    std::filesystem::last_write_time(left, long_ago);
    std::filesystem::last_write_time(std::filesystem::path(living.path()).parent_path(), long_ago);
    remove_stale_offers();
    CHECK(std::filesystem::exists(living.path()));
    CHECK_FALSE(std::filesystem::exists(left));
    CHECK(std::filesystem::exists(fresh));
  }
  CHECK(std::distance(std::filesystem::directory_iterator(dir.path()), {}) == 1);
}
