#include "isolation/bwrap_failure.hpp"

#include "core/text.hpp"

#include <algorithm>
#include <fstream>

namespace berth {
namespace {

int setting(const char* path, int otherwise) {
  std::ifstream file(path);
  int value = otherwise;
  return file >> value ? value : otherwise;
}

struct known_cause {
  std::string_view text;
  const char* cure;
};

constexpr known_cause causes[] = {
    {"No permissions to create",
     "user namespaces are denied: the kernel needs kernel.unprivileged_userns_clone=1, a container another seccomp "
     "profile, "
     "or this is a sandbox already"},
    {"namespaces exceeded",
     "user namespaces are used up or switched off (user.max_user_namespaces), or this is a sandbox already"},
    {"Failed to make / slave", "this container forbids mounts; its seccomp or AppArmor profile must allow them"},
    {"Can't mount proc", "this container hides parts of /proc; it must be started with systempaths=unconfined"},
    {"setting up uid map", "user namespaces are restricted here, or CAP_SETFCAP is missing in this container"},
    {"RTM_NEWADDR", "the new network namespace may not be set up; AppArmor or the container denies it"},
    {"RTM_NEWLINK", "the new network namespace may not be set up; AppArmor or the container denies it"},
    {"pivot_root", "the root file system cannot be left (a chroot, or an initial ramdisk): not supported"},
    {"fchdir to oldroot", "system calls are emulated here (proot, gVisor): not supported"},
    {"Function not implemented", "the kernel or a filter lacks a system call that bwrap needs: not supported"},
    {"Failed to mount tmpfs", "a security policy (SELinux) denies mounts"},
    {"Unknown option", "this bwrap is too old; 0.8 or later is needed"},
};

std::string cure(std::string_view line, const namespace_settings& settings) {
  const bool of_namespaces = line.find("uid map") != line.npos || line.find("RTM_NEW") != line.npos;
  if (settings.apparmor_restricts && of_namespaces)
    return "AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns=1): install the profile "
           "bwrap-userns-restrict of apparmor-profiles";
  if (settings.no_user_namespaces) return "user.max_user_namespaces is 0";
  if (settings.userns_clone_off) return "kernel.unprivileged_userns_clone is 0";
  // What the host's root finds by its capabilities, a sandbox's does not.
  if (line.find("source path") != line.npos && line.find("Permission denied") != line.npos)
    return "bwrap may not enter a directory above it, as root neither where that is another user's: run this as that "
           "user, "
           "or let others pass through it (chmod o+x)";
  for (const known_cause& each : causes) {
    if (line.find(each.text) != line.npos) return each.cure;
  }
  return {};
}

/// For a terminal: a name in the complaint may hold anything.
std::string plain(std::string_view line) {
  std::string text = to_text(line);
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  std::replace_if(text.begin(), text.end(), is_control, '?');
  return text;
}

}  // namespace

namespace_settings read_namespace_settings() {
  namespace_settings now;
  now.apparmor_restricts = setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) == 1;
  now.userns_clone_off = setting("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0;
  now.no_user_namespaces = setting("/proc/sys/user/max_user_namespaces", 1) == 0;
  return now;
}

std::string explain_bwrap_failure(std::string_view complaint, const namespace_settings& settings) {
  constexpr std::string_view prefix = "bwrap: ";
  constexpr std::size_t longest = 500;
  if (complaint.starts_with(prefix)) complaint.remove_prefix(prefix.size());
  const std::string_view line = complaint.substr(0, std::min(complaint.find('\n'), longest));
  const std::string help = cure(line, settings);
  std::string text = "[isolation] bwrap not usable: " + (line.empty() ? "it ended without a word" : plain(line));
  if (!help.empty()) text += " (" + help + ")";
  return text + "; command was not run";
}

}  // namespace berth
