#include "isolation/seatbelt.hpp"

#include "core/paths.hpp"

#include <fmt/format.h>

namespace berth {
namespace {

/// What programs need whatever they do: starting others, signalling them, reading, terminals, the services libc asks.
constexpr std::string_view always = R"((version 1)
(deny default)
(allow process-exec)
(allow process-fork)
(allow signal (target same-sandbox))
(allow process-info* (target same-sandbox))
(allow mach-priv-task-port (target same-sandbox))
(allow file-read*)
(allow file-test-existence)
(allow sysctl-read)
(allow sysctl-write (sysctl-name "kern.grade_cputype"))
(allow user-preference-read)
(allow ipc-posix-sem)
(allow ipc-posix-shm*)
(allow iokit-open (iokit-registry-entry-class "RootDomainUserClient"))
(allow mach-host*)
(allow mach-lookup
  (global-name "com.apple.PowerManagement.control")
  (global-name "com.apple.SecurityServer")
  (global-name "com.apple.bsd.dirhelper")
  (global-name "com.apple.cfprefsd.agent")
  (global-name "com.apple.cfprefsd.daemon")
  (global-name "com.apple.logd")
  (global-name "com.apple.securityd.xpc")
  (global-name "com.apple.system.logger")
  (global-name "com.apple.system.notification_center")
  (global-name "com.apple.system.opendirectoryd.libinfo")
  (global-name "com.apple.system.opendirectoryd.membership"))
(allow file-write-data (require-all (path "/dev/null") (vnode-type CHARACTER-DEVICE)))
(allow file-write-data (literal "/dev/tty") (literal "/dev/stdout") (literal "/dev/stderr"))
(allow file-ioctl (regex #"^/dev/(null|zero|random|urandom|dtracehelper|tty)$"))
(allow pseudo-tty)
(allow file-read* file-write* file-ioctl (literal "/dev/ptmx"))
(allow file-read* file-write* file-ioctl (regex #"^/dev/ttys[0-9]+$"))
(allow system-socket (socket-domain AF_UNIX))
)";

constexpr std::string_view network_allowed = R"((allow system-socket)
(allow network-outbound (remote ip))
(allow network-inbound (local ip))
(allow network-bind (local ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow mach-lookup
  (global-name "com.apple.SystemConfiguration.configd")
  (global-name "com.apple.SystemConfiguration.DNSConfiguration")
  (global-name "com.apple.networkd")
  (global-name "com.apple.trustd.agent"))
)";

constexpr std::string_view unix_sockets_allowed = R"((allow network-outbound (remote unix-socket))
(allow network-inbound (local unix-socket))
(allow network-bind (local unix-socket))
)";

struct parameter {
  std::string name;
  const std::string* path;
};

void add(std::vector<parameter>& all, const char* kind, const std::vector<std::string>& paths) {
  for (std::size_t i = 0; i < paths.size(); ++i) all.push_back({fmt::format("{}_{}", kind, i), &paths[i]});
}

std::vector<parameter> parameters(const isolation_plan& plan) {
  std::vector<parameter> all;
  add(all, "ROOT", plan.roots);
  if (!plan.tmp.empty()) all.push_back({"TMP", &plan.tmp});
  add(all, "PINNED", plan.pinned);
  add(all, "PROTECTED", plan.protected_paths);
  if (plan.unix_sockets == access_rule::deny) return all;
  add(all, "MASKED_SOCKET", plan.masked_sockets);
  add(all, "MASKED_DIRECTORY", plan.masked_directories);
  return all;
}

/// Writes below the parameter's path; protected paths by name and by what lies below, or they could be made anew.
std::string write_rule(const parameter& root, const isolation_plan& plan) {
  std::string rule = fmt::format("(allow file-write* (require-all (subpath (param \"{}\"))", root.name);
  for (std::size_t i = 0; i < plan.protected_paths.size(); ++i) {
    if (!is_at_or_below(plan.protected_paths[i], *root.path)) continue;
    rule += fmt::format(
        "\n  (require-not (literal (param \"PROTECTED_{0}\")))\n  (require-not (subpath (param \"PROTECTED_{0}\")))",
        i);
  }
  return rule + "))\n";
}

}  // namespace

std::string seatbelt_profile(const isolation_plan& plan) {
  std::string text(always);
  if (plan.network == access_rule::allow) text += network_allowed;
  if (plan.unix_sockets == access_rule::allow) text += unix_sockets_allowed;
  for (const parameter& each : parameters(plan)) {
    if (each.name.starts_with("ROOT") || each.name == "TMP") {
      text += write_rule(each, plan);
    } else if (each.name.starts_with("MASKED")) {
      text += fmt::format("(deny network-outbound (literal (param \"{0}\")) (subpath (param \"{0}\")))\n", each.name);
    } else {  // not renamed: what lies below would lie elsewhere then
      text += fmt::format("(deny file-write-unlink (literal (param \"{}\")))\n", each.name);
    }
  }
  return text;
}

std::vector<std::string> seatbelt_arguments(const isolation_plan& plan, const std::vector<std::string>& command) {
  std::vector<std::string> words{"/usr/bin/sandbox-exec", "-p", seatbelt_profile(plan)};
  for (const parameter& each : parameters(plan)) words.push_back("-D" + each.name + "=" + *each.path);
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace berth
