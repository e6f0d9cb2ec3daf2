#pragma once
/// One container, from its making to its end.

#include "docker/container_spec.hpp"
#include "docker/engine.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// What is known of an image.
struct docker_image {
  std::string id;
  std::string os;
  std::string architecture;  ///< as Go has it: "amd64", "arm64"
};

/// Nothing where the daemon does not have it. Errors: those of the engine.
task<std::optional<docker_image>> find_image(std::shared_ptr<docker_engine> engine, std::string image);

struct pull_request {
  std::string image;
  std::string platform;
  std::string auth;  ///< the value of X-Registry-Auth, or empty
  pull_progress_function on_progress;
};
/// Pulls one image. Errors: those of pull_report, and of the engine; unauthorized where the registry says so.
task<void> pull_image(std::shared_ptr<docker_engine> engine, pull_request what);

/// What a container is doing.
struct container_state {
  std::string status;  ///< "created", "running", "paused", "exited", "dead"
  bool running = false;
  bool paused = false;
  bool oom_killed = false;
  int exit_code = 0;
  std::string error;
};

/// A container by its id. A value; it ends nothing by itself.
class container {
 public:
  container(std::shared_ptr<docker_engine> engine, std::string id) : engine_(std::move(engine)), id_(std::move(id)) {}

  /// Errors: not_found for the image, conflict for the name, invalid_argument.
  static task<container> create(std::shared_ptr<docker_engine> engine, json spec, std::string name,
                                std::string platform);

  const std::string& id() const noexcept { return id_; }
  const std::shared_ptr<docker_engine>& engine() const noexcept { return engine_; }

  /// Errors: start_failed with the daemon's reason.
  task<void> start() const;
  /// A tar stream, unpacked in a directory that is there; also before the start.
  task<void> upload(std::string directory, std::string tar) const;
  /// The streams of its first process, in both directions; also before the start.
  task<http::stream_ptr> attach() const;
  /// Nothing where it is gone.
  task<std::optional<json>> inspect() const;
  task<std::optional<container_state>> state() const;
  /// With its volumes that have no name, running or not. That it is gone is fine.
  task<void> remove() const;

 private:
  static task<void> start_one(container self);
  static task<void> upload_to(container self, std::string directory, std::string tar);
  static task<std::optional<json>> inspect_one(container self);
  static task<std::optional<container_state>> state_of(container self);
  static task<void> remove_one(container self);

  std::shared_ptr<docker_engine> engine_;
  std::string id_;
};

/// A tar stream with one file in it, owned by root.
std::string tar_of_file(const std::string& name, const std::string& content, unsigned mode);

}  // namespace berth
