#pragma once
/// Kernel limits around the commands of a context on this host: what they may write, and whom they may talk to.

#include <berth/api.hpp>
#include <berth/log.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace berth {

enum class access_rule { deny, allow };

/// What commands and file operations see as /tmp and /var/tmp.
enum class tmp_kind {
  own,   ///< one directory for each handle, empty at first and removed with it
  host,  ///< those of this host, read-only unless a root says otherwise
};

/// Settings of an isolation. Commands may read what the caller may, and write below the writable roots only: the working directory of
/// the handle, and `writable_roots`. The file operations of the context keep to the same roots, protected paths and /tmp, whether a sandbox
/// can be made or not: a change elsewhere is errc::permission_denied, with a message that names the roots and `setting_name`.
/// docs/isolation.md says what is promised, and what is not.
///
/// Before each command it is seen whether roots and protected paths are still the files that they were; if not, it gets a new
/// sandbox, and what runs stays in the old one.
class BERTH_API isolation_settings {
 public:
  isolation_settings() = default;

  /// Besides the handle's working directory; relative ones are looked for there, and `~` is a name like others: what a user wrote
  /// goes through parse_allow_write_setting first. Resolved when a handle is spawned: see resolve_writable_roots. Default: none.
  isolation_settings& writable_roots(std::vector<std::string> paths) & {
    writable_roots_ = std::move(paths);
    return *this;
  }
  /// Lets roots through that are the home directory of this process's user (that of HOME, and that of the user database) or lie
  /// above it, `/` too. Default: they are refused.
  isolation_settings& allow_wide_roots(bool yes = true) & {
    allow_wide_roots_ = yes;
    return *this;
  }
  /// Denied: a network of its own, with nothing but a loopback interface that the commands of a handle share. Allowed: that of this
  /// host, with every service that it reaches. Default: deny.
  isolation_settings& network(access_rule rule) & {
    network_ = rule;
    return *this;
  }
  /// Read-only though they lie below a root; they can be neither moved nor replaced. A relative one is looked for in every root and in
  /// the working directory, and what is not there is left out until it appears: nothing is created for it. In a git worktree, `.git/`
  /// means the repository that it belongs to; in a root that is itself a repository, that root.
  /// Default: `.git/hooks`, `.git/config` and `.git/config.worktree`.
  isolation_settings& protected_paths(std::vector<std::string> paths) & {
    protected_paths_ = std::move(paths);
    return *this;
  }
  /// May commands make unix sockets? Pairs of connected ones they may always. Allowed, they reach every socket of this host that
  /// this user may use, but for some that are known to give more than that. Default: as `network`.
  isolation_settings& unix_sockets(access_rule rule) & {
    unix_sockets_ = rule;
    return *this;
  }
  /// Default: tmp_kind::own.
  isolation_settings& tmp(tmp_kind kind) & {
    tmp_ = kind;
    return *this;
  }
  /// How the embedding application calls what sets `writable_roots`: it is named where a command was denied something.
  /// Default: "isolation.writable_roots".
  isolation_settings& setting_name(std::string name) & {
    setting_name_ = std::move(name);
    return *this;
  }
  isolation_settings writable_roots(std::vector<std::string> paths) && { return writable_roots(std::move(paths)); }
  isolation_settings allow_wide_roots(bool yes = true) && { return allow_wide_roots(yes); }
  isolation_settings network(access_rule rule) && { return network(rule); }
  isolation_settings protected_paths(std::vector<std::string> paths) && { return protected_paths(std::move(paths)); }
  isolation_settings unix_sockets(access_rule rule) && { return unix_sockets(rule); }
  isolation_settings tmp(tmp_kind kind) && { return tmp(kind); }
  isolation_settings setting_name(std::string name) && { return setting_name(std::move(name)); }

  const std::vector<std::string>& writable_roots() const noexcept { return writable_roots_; }
  bool allows_wide_roots() const noexcept { return allow_wide_roots_; }
  access_rule network() const noexcept { return network_; }
  const std::vector<std::string>& protected_paths() const noexcept { return protected_paths_; }
  access_rule unix_sockets() const noexcept { return unix_sockets_.value_or(network_); }
  tmp_kind tmp() const noexcept { return tmp_; }
  const std::string& setting_name() const noexcept { return setting_name_; }

  /// Throws errc::invalid_argument naming the first that cannot be: an empty path, a NUL.
  void validate() const;

 private:
  std::vector<std::string> writable_roots_;
  std::vector<std::string> protected_paths_{".git/hooks", ".git/config", ".git/config.worktree"};
  std::string setting_name_ = "isolation.writable_roots";
  std::optional<access_rule> unix_sockets_;
  access_rule network_ = access_rule::deny;
  tmp_kind tmp_ = tmp_kind::own;
  bool allow_wide_roots_ = false;
};

/// The paths in a user's setting, such as "~/.cache, ../shared": separated by commas or newlines, blanks around them mean nothing, and
/// neither do empty ones. There is no quoting: quotes and backslashes are part of a path, and one with a comma, a newline, or a blank
/// at an end cannot be written. `~` is the home of this process's user, relative ones start at `cwd`, an absolute path. The result
/// is absolute, without `.` and `..`; nothing is asked of the file system.
/// Errors: invalid_argument naming the entry, for `~name`, a `$` at the beginning (variables are not replaced; "./$x" is a
///         directory), a NUL, and `~` where no home is known.
BERTH_API std::vector<std::string> parse_allow_write_setting(std::string_view text, std::string_view cwd);

/// What resolve_writable_roots goes by, besides the working directory.
struct root_options {
  /// Further roots; relative ones start at the working directory.
  std::vector<std::string> extra = {};
  /// See isolation_settings::allow_wide_roots.
  bool allow_wide = false;
  /// Told what was left out.
  log_function log = {};
};

/// The directories that may be written, as real paths: `cwd` first, then the others, each once and none below another. A root that is no
/// directory is fine. One that is missing is left out and logged. `~` means nothing here: see parse_allow_write_setting. Blocks.
/// Errors: not_found and not_a_directory for `cwd`; invalid_argument naming the root, for one that is a home directory of this
///         process's user (HOME, or the user database) or lies above it, unless `allow_wide` says so.
BERTH_API std::vector<std::string> resolve_writable_roots(const std::string& cwd, const root_options& options = {});

}  // namespace berth
