#pragma once
/// Containers that a process has made and that are still there.

#include "docker/engine.hpp"
#include "support/waiting.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace berth::test {

/// Their ids, by the label that says whose they are; of all processes where the pid is 0.
inline task<std::vector<std::string>> container_ids_of(asio::io_context& io, std::vector<daemon_address> daemon,
                                                       std::int64_t pid) {
  auto connecting = docker_engine::connect(io.get_executor(), std::move(daemon));
  const auto engine = co_await std::move(connecting);
  const json all = co_await engine->ask("GET", "/containers/json?all=1");
  std::vector<std::string> found;
  for (const json& each : all.as_array()) {
    const std::string* label = each["Labels"]["berth.owner.pid"].if_string();
    if (label != nullptr && (pid == 0 || *label == std::to_string(pid))) found.push_back(each.at("Id").as_string());
  }
  co_return found;
}

/// How many they are.
inline task<std::size_t> containers_of(asio::io_context& io, std::vector<daemon_address> daemon, std::int64_t pid) {
  auto looking = container_ids_of(io, std::move(daemon), pid);
  const auto found = co_await std::move(looking);
  co_return found.size();
}

/// Volumes of the daemon.
inline task<std::size_t> count_volumes(asio::io_context& io, std::vector<daemon_address> daemon) {
  auto connecting = docker_engine::connect(io.get_executor(), std::move(daemon));
  const auto engine = co_await std::move(connecting);
  const json all = co_await engine->ask("GET", "/volumes");
  const json_array* list = all["Volumes"].if_array();
  co_return list != nullptr ? list->size() : 0;
}

/// Waits until none is left of this process; how many still are.
inline task<std::size_t> containers_left_of(asio::io_context& io, std::vector<daemon_address> daemon,
                                            std::int64_t pid) {
  using namespace std::chrono_literals;
  std::size_t left = 0;
  for (int i = 0; i < 200; ++i) {
    auto counting = containers_of(io, daemon, pid);
    left = co_await std::move(counting);
    if (left == 0) break;
    co_await pause_for(100ms);
  }
  co_return left;
}

}  // namespace berth::test
