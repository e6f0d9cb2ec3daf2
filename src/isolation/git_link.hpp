#pragma once
/// Worktrees of git: directories whose `.git` is a file that names the repository.

#include <optional>
#include <string>

namespace berth {

/// Where a `.git` file leads; real paths.
struct git_link {
  /// What git keeps for this worktree alone.
  std::string own;
  /// The repository: objects, refs, hooks, config.
  std::string repository;
  /// The repository names this worktree in its turn, and lies where git makes it. What can write neither of the two cannot forge that.
  bool is_mutual = false;
};

/// None if the path is no regular file, or does not lead to a directory. Blocks.
/// Errors: what it says cannot be read, though this user could see to that: see real_path_if_there.
std::optional<git_link> read_git_link(const std::string& dot_git);

}  // namespace berth
