/// Spawns that are cancelled: whatever was made until then is gone when they end.
#include "docker/left_containers.hpp"
#include "docker/places.hpp"
#include "docker/real_daemon.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

/// Cancels later and later, so that each step is met.
task<void> try_cancels(asio::io_context& io, std::vector<daemon_address> daemon, docker_context_options options,
                       bool try_socket) {
  constexpr auto step = 60ms;
  constexpr int most = 60;
  auto counting = count_volumes(io, daemon);
  const std::size_t volumes = co_await std::move(counting);
  bool worked = false;
  for (int i = 0; i < most && !worked; ++i) {
    context place = make_place(io, options, try_socket);
    auto spawning = running(io.get_executor(), place.spawn());
    co_await pause_for(i * step);
    spawning.cancel();
    try {
      const handle where = co_await spawning.result();
      co_await place.destroy(where);
      worked = true;
    } catch (const std::system_error& failure) {
      CHECK_MESSAGE(is_cancelled(failure.code()), failure.what());
    }
    const auto left = co_await containers_of_test(io, daemon);
    CHECK_MESSAGE(left.empty(), "cancelled after " << i * step.count() << " ms");
    if (!left.empty()) break;
  }
  CHECK(worked);
  counting = count_volumes(io, daemon);
  const std::size_t now = co_await std::move(counting);
  CHECK(now <= volumes);
}

}  // namespace

DOCKER_TEST("cancel: a spawn leaves nothing at any step, pipes handed over") {
  co_await try_cancels(io, daemon, small_container(daemon.front().url), true);
}

DOCKER_TEST("cancel: a spawn leaves nothing at any step, over frames") {
  co_await try_cancels(io, daemon, small_container(daemon.front().url), false);
}

DOCKER_TEST("cancel: a spawn leaves nothing at any step, without a resident") {
  docker_context_options options = small_container(daemon.front().url);
  options.runner = docker_runner::engine;
  co_await try_cancels(io, daemon, std::move(options), false);
}
