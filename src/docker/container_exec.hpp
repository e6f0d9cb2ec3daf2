#pragma once
/// Commands that the Engine itself starts in a container.

#include "berth/command.hpp"
#include "docker/container.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

struct exec_request {
  std::vector<std::string> words = {};
  /// "NAME=VALUE" sets, "NAME" removes, on top of what the container has.
  std::vector<std::string> env = {};
  std::string cwd = {};   ///< empty: the container's
  std::string user = {};  ///< empty: the container's
  bool input = false;     ///< else it finds the end at once
  std::optional<terminal_size> terminal = {};
};

struct exec_state {
  bool running = false;
  std::optional<int> code = {};
  /// Of the daemon's host; 0: it has not begun, or never did.
  std::int64_t pid = 0;
};

/// One command by its id. A value; it ends nothing by itself, and the Engine has no call that would.
class container_exec {
 public:
  /// Errors: those of the engine; conflict where the container is paused or does not run.
  static task<container_exec> create(container box, exec_request what);

  /// Once. Its streams, framed unless it has a terminal. That it could not be started shows only later: see `state` and exec_refusal.
  task<http::stream_ptr> start() const;
  /// Nothing where the daemon knows it no more: it was started again, or the container is gone.
  task<std::optional<exec_state>> state() const;
  task<void> resize(terminal_size size) const;

 private:
  container_exec(container box, std::string id, bool terminal)
      : box_(std::move(box)), id_(std::move(id)), terminal_(terminal) {}
  static task<std::optional<exec_state>> state_of(container_exec self);
  static task<void> resize_one(container_exec self, terminal_size size);

  container box_;
  std::string id_;
  bool terminal_;
};

struct exec_outcome {
  std::string out = {};  ///< at most 64 KiB; the rest is dropped
  std::string err = {};
  bool started = false;
  int code = -1;
};

class exec_input {
 public:
  exec_input() = default;
  exec_input(std::string all, std::string after) : bytes(std::move(all)), cue(std::move(after)) {}

  std::string bytes;
  /// It is written once this has come on standard output.
  std::string cue;
};

/// Runs a short command to its end. Errors: those of the engine; lost.
task<exec_outcome> run_in_container(container box, exec_request what, exec_input input = exec_input());

}  // namespace berth
