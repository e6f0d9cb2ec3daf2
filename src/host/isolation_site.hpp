#pragma once
/// What a place with isolation has besides its resident: its roots, its /tmp, and the sandbox that is opened on them.

#include "berth/error.hpp"
#include "berth/isolation.hpp"
#include "core/logger.hpp"
#include "host/resident_launch.hpp"
#include "isolation/plan.hpp"
#include "os/unique_fd.hpp"

#include <asio/any_io_executor.hpp>

#include <string>
#include <vector>

namespace berth {

/// All that bwrap is given, made before it starts.
struct prepared_sandbox {
  std::string program;
  isolation_plan plan;
  unique_fd arguments;
  unique_fd filter;
  unique_fd complaints;               ///< what bwrap writes to standard error
  std::vector<std::string> warnings;  ///< for the log
};

/// Life: the private /tmp is removed with it, so the sandbox must have ended.
class isolation_site {
 public:
  /// Resolves the roots, once for all, and makes the private /tmp. Blocks.
  /// Errors: those of resolve_writable_roots; and of making a directory.
  isolation_site(isolation_settings settings, const std::string& cwd);
  ~isolation_site();
  isolation_site(const isolation_site&) = delete;
  isolation_site& operator=(const isolation_site&) = delete;

  /// Looks at the host and writes down what bwrap is to do. A root that has been replaced by a link is an error. Blocks.
  /// Errors: start_failed, one line for the caller of a command.
  prepared_sandbox prepare(const std::vector<std::string>& env) const;
  /// What is changed in the environment of every command, before what the user changes.
  std::vector<std::string> changes(const std::vector<std::string>& env) const;
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  const isolation_settings& settings() const noexcept { return settings_; }

 private:
  void protect_below(const std::string& cwd);

  isolation_settings settings_;
  std::vector<std::string> warnings_;
  std::vector<std::string> roots_;
  std::string tmp_;
};

/// Starts bwrap with the resident in it, as process 1 of the sandbox. It waits for a hello.
/// Errors: start_failed, one line for the caller of a command, where bwrap cannot be executed.
launched_resident launch_isolated(asio::any_io_executor executor, const prepared_sandbox& sandbox);

/// The line for the caller of a command, from what bwrap wrote, or where it wrote nothing from how the launch failed. Blocks.
std::string explain_failure(const prepared_sandbox& sandbox, const error& failure);

}  // namespace berth
