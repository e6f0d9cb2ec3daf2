#pragma once
/// What an isolation comes to on this host, as it is now.

#include "berth/isolation.hpp"
#include "core/logger.hpp"

#include <string>
#include <vector>

namespace berth {

/// All paths are real ones of things that are there. Launchers turn it into the words of their sandbox and ask nothing themselves.
struct isolation_plan {
  /// May be written; none below another, but for those in a private /tmp beside "/", which comes last then.
  std::vector<std::string> roots = {};
  /// Between a root and what is protected or masked, and what tells that a root is a repository: written as the root, but they stay
  /// where they are, and so does what is below.
  /// Outer ones first.
  std::vector<std::string> pinned = {};
  /// Below a root and yet read-only; none below another.
  std::vector<std::string> protected_paths = {};
  /// What is seen at `tmp_at`, the real paths of /tmp and /var/tmp; empty: those of the host.
  std::string tmp = {};
  std::vector<std::string> tmp_at = {};
  /// Sockets, and directories of sockets, that are hidden.
  std::vector<std::string> masked_sockets = {};
  std::vector<std::string> masked_directories = {};
  /// What it was made of, there or not: once one of them is another file, a new plan may say something else.
  std::vector<std::string> looked_at = {};
  /// The same, once one of them is written.
  std::vector<std::string> read = {};
  access_rule network = access_rule::deny;
  access_rule unix_sockets = access_rule::deny;

  bool operator==(const isolation_plan&) const = default;
};

/// Looks at the host. `roots` as resolve_all_roots gives them: in each of them things are protected; `tmp` is the handle's own directory, or empty. Blocks.
///
/// The repository of a git worktree becomes a root too: git writes there. What `.git` names is believed only where the repository
/// names the worktree in its turn, and neither a root nor the private /tmp holds what says so.
/// Errors: as real_path_if_there: whether something is to be protected cannot be seen.
isolation_plan make_isolation_plan(const isolation_settings& settings, std::vector<std::string> roots, std::string tmp,
                                   const logger& log = {});

}  // namespace berth
