#pragma once
/// Containers that a test runs by itself, for contexts that attach to them.

#include "docker/container.hpp"
#include "docker/docker_backend.hpp"
#include "docker/engine.hpp"
#include "docker/real_daemon.hpp"

#include <berth/docker_context.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace berth::test {

struct given_spec {
  std::string image = "test/busybox:1";
  /// Something that stays; a program of the image.
  std::vector<std::string> argv = {"/bin/busybox", "sleep", "1000"};
  std::string user = {};
  std::string cwd = {};
  json host = json_object();  ///< HostConfig
};

/// Runs until it is removed.
inline task<container> run_given(std::shared_ptr<docker_engine> engine, given_spec what) {
  json_object spec;
  spec.set("Image", what.image);
  json_array entrypoint;
  for (std::string& each : what.argv) entrypoint.emplace_back(std::move(each));
  spec.set("Entrypoint", std::move(entrypoint));
  if (!what.user.empty()) spec.set("User", what.user);
  if (!what.cwd.empty()) spec.set("WorkingDir", what.cwd);
  json_object host = what.host.as_object();
  host.set("NetworkMode", "none");
  host.set("Init", true);  // so that it ends when it is told to
  spec.set("HostConfig", std::move(host));
  json body = std::move(spec);
  auto making = container::create(engine, std::move(body), {}, {});
  const container made = co_await std::move(making);
  co_await made.start();
  co_return made;
}

inline docker_context context_in(asio::io_context& io, const std::vector<daemon_address>& daemon, const container& box,
                                 docker_runner runner = docker_runner::automatic,
                                 std::chrono::milliseconds lease = std::chrono::minutes(15)) {
  docker_context_options options;
  options.host = daemon.front().url;
  options.container = box.id();
  options.runner = runner;
  options.lease = lease;
  return make_docker_context(io, std::move(options));
}

/// The command lines of all that runs in it.
inline task<std::vector<std::string>> processes_of(container box) {
  const json all = co_await box.engine()->ask("GET", "/containers/" + box.id() + "/top?ps_args=-eo%20pid,args");
  std::vector<std::string> lines;
  for (const json& each : all["Processes"].as_array()) lines.push_back(each.as_array().at(1).as_string());
  co_return lines;
}

}  // namespace berth::test
