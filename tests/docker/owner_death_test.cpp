/// Programs that are killed while they have containers.
#include "cli/program.hpp"
#include "docker/left_containers.hpp"
#include "docker/real_daemon.hpp"
#include "support/temp_dir.hpp"
#include "support/variable.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <memory>
#include <vector>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

DOCKER_TEST("owner's death: ten containers of a program that is killed go by themselves, and their volumes") {
  const temp_dir sockets;  // that a killed owner leaves until the next one is made
  const variable_is here("TMPDIR", sockets.path().string());
  auto counting = count_volumes(io, daemon);
  const std::size_t volumes = co_await std::move(counting);
  program owner = program::any({BERTH_TEST_PROGRAMS "/owner", "docker", "10"});
  CHECK(owner.prints("ready\n", 40s));
  counting = containers_of(io, daemon, owner.pid());
  CHECK(co_await std::move(counting) == 10);
  owner.signal(SIGKILL);
  CHECK(owner.end().code == -SIGKILL);
  auto waiting = containers_left_of(io, daemon, owner.pid());
  CHECK(co_await std::move(waiting) == 0);
  // They go behind the containers.
  std::size_t now = volumes + 1;
  for (int i = 0; i < 200 && now > volumes; ++i) {
    co_await pause_for(100ms);
    counting = count_volumes(io, daemon);
    now = co_await std::move(counting);
  }
  CHECK(now <= volumes);
}

DOCKER_TEST("owner's death: berth exec that is killed leaves no container, at the latest after a reap") {
  constexpr int count = 6;
  const temp_dir sockets;
  const variable_is here("TMPDIR", sockets.path().string());
  std::vector<std::unique_ptr<program>> all;
  for (int i = 0; i < count; ++i) {
    const words arguments{"exec", "--image", "test/busybox:1", "--docker-host", daemon.front().url, "sleep 100"};
    all.push_back(std::make_unique<program>(arguments));
    co_await pause_for(150ms);
  }
  // The first run by now, the last are being made.
  for (const auto& each : all) each->signal(SIGKILL);
  for (const auto& each : all) CHECK(each->end().code == -SIGKILL);
  std::size_t left = 1;
  for (int i = 0; i < 100 && left > 0; ++i) {
    co_await pause_for(100ms);
    // One that was made and not started has nothing inside that could end it.
    CHECK(berth_ends({"reap", "--docker-host", daemon.front().url}).code == 0);
    left = 0;
    for (const auto& each : all) {
      auto counting = containers_of(io, daemon, each->pid());
      left += co_await std::move(counting);
    }
  }
  CHECK(left == 0);
}
