#pragma once
/// Why no sandbox could be made, for a person.

#include <string>
#include <string_view>

namespace berth {

/// What the kernel's settings say; see the files of /proc/sys that the members are called after.
struct namespace_settings {
  bool apparmor_restricts = false;
  bool userns_clone_off = false;
  bool no_user_namespaces = false;
};
/// Blocks.
namespace_settings read_namespace_settings();

/// One line: what bwrap said first, what it comes from and what helps, and that nothing ran.
std::string explain_bwrap_failure(std::string_view complaint, const namespace_settings& settings);

}  // namespace berth
