#pragma once
/// What is really mounted in a sandbox, held against the plan.
///
/// bwrap goes by names. Between the look at the host and its mounts a command of another sandbox, or of an older one, can put a link in
/// place of a directory that it may rename, and the sandbox would be given what the link leads to. The kernel's own table of
/// mounts tells: it has what was mounted, not what it was called.

#include "isolation/plan.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth {

/// A line of /proc/PID/mountinfo (proc(5)).
struct mount_entry {
  std::string device;  ///< "major:minor" of the file system
  std::string root;    ///< what of the file system is mounted
  std::string point;   ///< where
  bool writable = false;
  int id = 0;
  int parent = 0;            ///< the mount that it lies in
  bool is_followed = false;  ///< what is mounted below it elsewhere appears here too, or the other way round
  std::string type = {};     ///< "ext4", "proc"

  bool operator==(const mount_entry&) const = default;
};

/// Lines that cannot be read are left out.
std::vector<mount_entry> parse_mount_table(std::string_view text);

/// A file system of the kernel's (proc, sysfs, cgroups ...) that lies in a root of the plan, or has one in it, for a message; empty if there
/// is none. What of `host` another mount covers does not count.
std::string find_kernel_mount(const isolation_plan& plan, const std::vector<mount_entry>& host);

/// See reach.hpp; none: nothing is.
using barred_path = std::function<bool(const std::string&)>;

/// What differs from the plan, for a message; empty if nothing does. `inside` is the table of the sandbox, `host` that of this process.
/// What another mount covers is out of reach, and does not count.
/// - What may be written is a root, the private /tmp, a directory between, one of the sandbox's own file systems, what this host has
///   mounted below a root, or what it has where this user does not come: bwrap neither, to make it read-only.
/// - Nothing that this host mounts from now on appears inside.
/// - Each root, pin, protected path, private /tmp and mask lies where it should, is what it should be, and nothing lies over it.
std::string find_wrong_mount(const isolation_plan& plan, const std::vector<mount_entry>& host,
                             const std::vector<mount_entry>& inside, const barred_path& is_barred = {});

}  // namespace berth
