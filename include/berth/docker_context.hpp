#pragma once
/// The context in Docker containers: every handle is a container of its own, driven through the Engine API.

#include <berth/api.hpp>
#include <berth/context.hpp>
#include <berth/log.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace asio {
class io_context;
}

namespace berth {

/// When an image is pulled.
enum class pull_policy {
  missing,  ///< where the daemon does not have it
  always,   ///< before every spawn; that it is up to date costs a question to the registry
  never,
};

/// What a container may use. What is not set is not limited.
struct docker_limits {
  std::optional<std::uint64_t> memory_mb = {};  ///< MiB, swap included: no swap is given
  std::string cpu = {};                         ///< cores, as in "1.0" or "0.25"
  std::optional<std::uint64_t> pids = {};
};

enum class mount_kind {
  bind,    ///< a directory or file of the daemon's host; a missing one is an error, and is not made
  volume,  ///< of that name, made where it is missing
  tmpfs,
};

/// What a container sees at a path besides its image.
struct docker_mount {
  mount_kind kind = mount_kind::bind;
  std::string source = {};  ///< empty for a tmpfs
  std::string target = {};  ///< absolute, in the container
  bool read_only = false;
  std::optional<std::uint64_t> size_mb = {};  ///< of a tmpfs; default: half of the memory
};

/// A port of the container that the daemon's host offers.
struct docker_port {
  std::uint16_t container = 0;
  std::uint16_t host = 0;             ///< 0: the daemon chooses
  std::string address = "127.0.0.1";  ///< of the daemon's host, no name; "0.0.0.0" opens it to the network
};

/// Who starts the commands in a container.
enum class docker_runner {
  automatic,  ///< the resident, or where it cannot live the Engine
  resident,   ///< the resident, or spawn fails with errc::unsupported
  engine,     ///< the Engine's own exec, with what docs/docker-attach.md says is lost
};

/// One step of a pull.
struct pull_progress {
  std::string image;
  std::string layer;           ///< empty for what is said of the whole
  std::string status;          ///< as the daemon says it: "Downloading", "Extracting", "Pull complete"
  std::uint64_t done = 0;      ///< bytes of the layer
  std::uint64_t size = 0;      ///< 0: not known
  std::uint64_t all_done = 0;  ///< bytes downloaded of all layers that are known so far
  std::uint64_t all_size = 0;
};

/// Called on the thread of the io_context. What it throws is ignored.
using pull_progress_function = std::function<void(const pull_progress&)>;

/// Settings of a context in containers.
struct docker_context_options {
  std::string image = "oven/bun:latest";
  /// Working directory; made where it is missing. Default: /workspace; in a given `container` the one that its own processes start in.
  std::string cwd = {};
  /// On top of what the image sets.
  std::vector<std::pair<std::string, std::string>> env = {};
  docker_limits limits = {};
  std::vector<docker_mount> mounts = {};
  std::vector<docker_port> ports = {};
  /// "1000", "1000:1000" or a name that the image knows. Default: the image's, or that of the given container.
  std::string user = {};
  /// "none", "bridge", "host", the name of a network, "container:NAME". Default: the daemon's.
  std::string network = {};
  /// "linux/amd64"; default: the daemon's own. Another architecture runs where the daemon's host emulates it, without a resident.
  std::string platform = {};
  /// The root file system cannot be written; what is below `mounts` can.
  bool read_only = false;
  /// "ALL", "NET_RAW".
  std::vector<std::string> cap_drop = {};
  /// "no-new-privileges", "seccomp=<JSON>".
  std::vector<std::string> security_opt = {};
  std::vector<std::pair<std::string, std::string>> labels = {};
  /// Of the container; default: one that is not taken.
  std::string name = {};
  pull_policy pull = pull_policy::missing;
  /// Works in this container, which runs already: by name or id. It stays when the handle goes, any number of handles can be in it, and
  /// what concerns the making of a container must not be set. Its connection cannot be made again once it broke: then the handle is
  /// lost, and what ran there is ended, at the latest when the lease has passed.
  /// Errors of spawn: not_found; conflict for one that does not run.
  std::string container = {};
  docker_runner runner = docker_runner::automatic;
  /// As DOCKER_HOST has it. Default: what the docker command would take: `docker_context`, DOCKER_HOST, DOCKER_CONTEXT, its config
  /// file, then the usual sockets of Docker and Podman.
  std::string host = {};
  /// A context of the docker command.
  std::string docker_context = {};
  /// How long a container whose owner cannot be heard lives on. Must be at least 1 s.
  std::chrono::milliseconds lease{std::chrono::minutes(15)};
  pull_progress_function on_pull = {};
  log_function log = {};
};

class docker_backend;

/// A context that also tells of the containers behind its handles.
class BERTH_API docker_context : public context {
 public:
  docker_context(asio::any_io_executor executor, std::shared_ptr<docker_backend> backend);

  /// The TCP ports that the daemon's host offers, with the number that it chose where none was asked for. A port that is offered at
  /// several addresses is there once for each.
  /// Errors: destroyed; lost where the container is gone; those of the daemon's connection.
  task<std::vector<docker_port>> published_ports(handle place) &;
  /// The daemon's name for its container: 64 hexadecimal digits. Errors: destroyed.
  std::string container_id(const handle& place) const;

 private:
  std::shared_ptr<docker_backend> backend_;
};

/// Commands run in containers. Nothing is asked of a daemon before the first spawn.
///
/// The first process of a container is Berth's own (in place of the image's entrypoint): it starts and ends the commands, and reaps what
/// they leave. A container ends, and is removed with its anonymous volumes, with its handle, with the context, and when the calling
/// process dies, even by SIGKILL: at once where the daemon runs on this machine, else when the lease has passed.
/// Errors: invalid_argument naming the option.
BERTH_API docker_context make_docker_context(asio::io_context& io, docker_context_options options = {});

}  // namespace berth
