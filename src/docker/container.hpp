#pragma once
/// One container, from its making to its end.

#include "docker/container_spec.hpp"
#include "docker/engine.hpp"

#include <chrono>
#include <cstdint>
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
  std::string user = {};     ///< that its containers run as; empty: root
};

/// That of the resident which this library carries, as Go has it.
std::string architecture_of_resident();

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
};

/// What the daemon says of a file in a container.
struct archive_stat {
  std::uint64_t size = 0;
  std::uint32_t mode = 0;  ///< Go's bits: permissions as usual, a directory 1 << 31, a link 1 << 27
  std::string modified;    ///< as RFC 3339 has it
  std::string target;      ///< of a link

  static constexpr std::uint32_t directory_bit = std::uint32_t{1} << 31;
  static constexpr std::uint32_t link_bit = std::uint32_t{1} << 27;
  bool is_directory() const noexcept { return (mode & directory_bit) != 0; }
  bool is_link() const noexcept { return (mode & link_bit) != 0; }
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
  task<void> unpack(std::string directory, std::unique_ptr<byte_source> tar) const;
  /// A file, or a directory with all below it, as a tar stream. Errors: limit_exceeded.
  task<std::string> download(std::string path, std::size_t limit) const;
  /// What lies at a path, a last link not followed; nothing where nothing does. A tmpfs is not seen.
  task<std::optional<archive_stat>> stat(std::string path) const;
  /// The streams of its first process, in both directions; also before the start.
  task<http::stream_ptr> attach() const;
  /// Only its standard input.
  task<http::stream_ptr> attach_input() const;
  /// Nothing where it is gone.
  task<std::optional<json>> inspect() const;
  task<std::optional<container_state>> state() const;
  /// With its volumes that have no name, running or not. That it is gone is fine.
  task<void> remove() const;

 private:
  static task<void> start_one(container self);
  static task<void> upload_to(container self, std::string directory, std::string tar);
  static task<void> unpack_to(container self, std::string directory, std::unique_ptr<byte_source> tar);
  static task<std::string> download_from(container self, std::string path, std::size_t limit);
  static task<std::optional<archive_stat>> stat_of(container self, std::string path);
  static task<std::optional<json>> inspect_one(container self);
  static task<std::optional<container_state>> state_of(container self);
  static task<void> remove_one(container self);

  std::shared_ptr<docker_engine> engine_;
  std::string id_;
};

struct tar_entry {
  std::string path = {};
  std::string content = {};
  unsigned mode = 0644;
  bool is_directory = false;
  std::int64_t user = 0;
  std::int64_t group = 0;
  std::int64_t modified = 0;     ///< seconds since 1970
  std::string link_target = {};  ///< makes it a link
};

/// In this order. Errors: internal for a path that no tar can carry.
std::string tar_of(const std::vector<tar_entry>& entries);

/// A tar stream with one file in it, owned by root.
std::string tar_of_file(const std::string& name, const std::string& content, unsigned mode);

}  // namespace berth
