#pragma once
/// What a place with isolation has besides its resident: its roots, its /tmp, and the sandbox that is opened on them.

#include "berth/isolation.hpp"
#include "core/logger.hpp"
#include "host/private_tmp.hpp"
#include "host/sandbox_launch.hpp"
#include "isolation/mount_table.hpp"
#include "isolation/plan.hpp"
#include "isolation/plan_state.hpp"
#include "os/path_scope.hpp"
#include "os/unique_fd.hpp"

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace berth {

/// May be used from several threads.
///
/// Life: the private /tmp is removed with it, so the sandbox must have ended.
class isolation_site {
 public:
  /// Resolves the roots, once for all, and makes the private /tmp. Where no plan can be made commands say so. Blocks.
  /// Errors: those of resolve_writable_roots; and of making a directory.
  isolation_site(isolation_settings settings, const std::string& cwd);
  isolation_site(const isolation_site&) = delete;
  isolation_site& operator=(const isolation_site&) = delete;

  /// Looks at the host and writes down what bwrap is to do. A root that has been replaced by a link is an error. Blocks.
  /// Errors: start_failed, one line for the caller of a command.
  prepared_sandbox prepare(const std::vector<std::string>& env);
  /// Plans anew if what the plan rests on has changed; gives the plan's number, which is then another. A sandbox with a
  /// lower one must not get commands any more. Blocks.
  /// Errors: start_failed, as prepare.
  std::uint64_t look();
  /// What file operations see and may change, by the same plan. Where none can be made they see what they
  /// did, and change nothing. Blocks.
  std::shared_ptr<const path_scope> scope();
  /// Removes the private /tmp: the sandbox must have ended. Blocks.
  void clean() noexcept;
  /// What is changed in the environment of every command, before what the user changes.
  std::vector<std::string> changes(const std::vector<std::string>& env) const;
  const std::vector<std::string>& warnings() const noexcept { return warnings_; }
  const isolation_settings& settings() const noexcept { return settings_; }

 private:
  void plan_again(std::vector<std::string>& warnings);
  isolation_plan make_plan(std::vector<std::string>& warnings) const;
  bool still_holds();

  isolation_settings settings_;
  std::vector<std::string> warnings_;
  std::vector<std::string> roots_;  ///< all that were asked for
  std::optional<private_tmp> tmp_;
  std::mutex mutex_;  // what follows is under it
  isolation_plan plan_;
  std::vector<path_state> state_;
  unique_fd mount_changes_;                        ///< tells that this host has mounted something
  std::vector<mount_entry> mounts_, mounts_seen_;  ///< what a sandbox that is open does not follow, as planned and now
  std::uint64_t number_ = 0;
  std::shared_ptr<const path_scope> scope_;
};

}  // namespace berth
