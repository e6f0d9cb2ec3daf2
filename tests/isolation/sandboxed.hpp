#pragma once
/// Shell text in a real sandbox.

#include "isolation/plan.hpp"
#include "support/temp_dir.hpp"

#include <sys/types.h>

#include <string>
#include <vector>

namespace berth::test {

struct sandboxed_end {
  int code = -1;       ///< as a shell has it
  std::string output;  ///< of both streams
};

/// Directories for a sandbox: `root` and `tmp` belong to the user, `outside` too, so that only the sandbox stands in the way.
class sandbox_site {
 public:
  explicit sandbox_site(uid_t user);

  uid_t user() const noexcept { return user_; }
  std::string root() const { return at_ / "root"; }
  std::string outside() const { return at_ / "outside"; }
  std::string tmp() const { return at_ / "tmp"; }
  /// Writes a file for the user, making its directories.
  void write(const std::string& path, std::string_view bytes) const;
  isolation_plan plan(const isolation_settings& settings = {}) const;
  /// Runs `/bin/sh -c`, with the filter, in the root.
  sandboxed_end run(const isolation_plan& plan, const std::string& text) const;
  sandboxed_end run(const std::string& text) const { return run(plan(), text); }

 private:
  temp_dir at_;
  uid_t user_;
};

/// Those as whom sandboxes can be tried here: root and nobody, or who we are.
std::vector<uid_t> sandbox_users();

/// Is there a bwrap that can make a sandbox here? If not, a message says so.
bool has_sandbox();

}  // namespace berth::test
