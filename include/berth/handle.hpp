#pragma once
/// One spawned place, and the options it is spawned with.

#include <berth/api.hpp>
#include <berth/limits.hpp>

#include <string>
#include <utility>
#include <vector>

namespace berth {

/// Names one spawned place of a context. A plain value: copies mean the same place, and keeping one keeps nothing alive.
class BERTH_API handle {
 public:
  handle() = default;
  handle(std::string id, std::string type, std::string cwd)
      : id_(std::move(id)), type_(std::move(type)), cwd_(std::move(cwd)) {}

  const std::string& id() const noexcept { return id_; }
  /// The kind of context: "process", "docker", ...
  const std::string& type() const noexcept { return type_; }
  /// Absolute working directory; relative paths and commands without a cwd start here.
  const std::string& cwd() const noexcept { return cwd_; }

  bool operator==(const handle&) const = default;

 private:
  std::string id_;
  std::string type_;
  std::string cwd_;
};

/// What one `spawn` may change of the context's own settings.
class BERTH_API spawn_options {
 public:
  spawn_options() = default;

  /// Working directory, made with its parents if missing. Default: the context's.
  spawn_options& cwd(std::string path) & {
    cwd_ = std::move(path);
    return *this;
  }
  /// Adds one variable to the environment of every command of the handle.
  spawn_options& env(std::string name, std::string value) & {
    env_.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  /// Kernel limits for every command of the handle; those of `command::limits` win.
  spawn_options& limits(resource_limits most) & {
    limits_ = most;
    return *this;
  }
  spawn_options cwd(std::string path) && { return std::move(cwd(std::move(path))); }
  spawn_options env(std::string name, std::string value) && {
    return std::move(env(std::move(name), std::move(value)));
  }
  spawn_options limits(resource_limits most) && { return std::move(limits(most)); }

  const std::string& cwd() const noexcept { return cwd_; }
  const std::vector<std::pair<std::string, std::string>>& env() const noexcept { return env_; }
  const resource_limits& limits() const noexcept { return limits_; }

 private:
  std::string cwd_;
  std::vector<std::pair<std::string, std::string>> env_;
  resource_limits limits_;
};

}  // namespace berth
