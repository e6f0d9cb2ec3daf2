#include "isolation/syscall_filter.hpp"

#include "berth/error.hpp"
#include "core/syscall.hpp"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <initializer_list>
#include <string>
#include <system_error>

namespace berth {
namespace {

using condition = scmp_arg_cmp;

/// What a sandboxed program has no business with, whatever the arguments: other processes' memory, mounts and namespaces, the
/// kernel's keys, ways around this filter, the machine itself.
constexpr const char* refused[] = {
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "pidfd_getfd",
    "kcmp",
    "process_madvise",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "keyctl",
    "add_key",
    "request_key",
    "bpf",
    "perf_event_open",
    "userfaultfd",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "setns",
    "open_tree",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "kexec_load",
    "kexec_file_load",
    "init_module",
    "finit_module",
    "delete_module",
    "reboot",
    "swapon",
    "swapoff",
    "quotactl",
    "quotactl_fd",
    "acct",
    "sethostname",
    "setdomainname",
    "name_to_handle_at",
    "open_by_handle_at",
    "settimeofday",
    "clock_settime",
    "clock_adjtime",
    "adjtimex",
    "iopl",
    "ioperm",
    "vhangup",
    "lookup_dcookie",
};

/// A system call that this libseccomp may not know by name yet; the number is that of every architecture.
struct numbered_call {
  const char* name;
  int number;
};
constexpr numbered_call change_mode_2{"fchmodat2", 452};

constexpr std::uint64_t low_word = 0xffffffff;
constexpr std::uint64_t new_namespaces[] = {0x00000080, 0x00020000, 0x02000000, 0x04000000,
                                            0x08000000, 0x10000000, 0x20000000, 0x40000000};
constexpr std::uint64_t new_time_namespace = 0x80;  // a signal number's bits for clone

condition has_bits(unsigned argument, std::uint64_t bits) { return {argument, SCMP_CMP_MASKED_EQ, bits, bits}; }

condition is_word(unsigned argument, std::uint64_t value) { return {argument, SCMP_CMP_MASKED_EQ, low_word, value}; }

class filter_builder {
 public:
  explicit filter_builder(filter_architecture which) : context_(::seccomp_init(SCMP_ACT_ALLOW)) {
    if (context_ == nullptr) throw error(std::error_code(ENOMEM, std::system_category()), "a filter of system calls");
    check(::seccomp_attr_set(context_, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(EPERM)));
    if (which != filter_architecture::native)
      choose(which == filter_architecture::x86_64 ? SCMP_ARCH_X86_64 : SCMP_ARCH_AARCH64);
    const auto native = ::seccomp_arch_native();
    if (which == filter_architecture::native && native != SCMP_ARCH_X86_64 && native != SCMP_ARCH_AARCH64)
      throw error(make_error_code(errc::unsupported), "isolation: no filter of system calls for this architecture");
  }
  filter_builder(const filter_builder&) = delete;
  filter_builder& operator=(const filter_builder&) = delete;
  ~filter_builder() { ::seccomp_release(context_); }

  void refuse(const char* name, std::initializer_list<condition> when = {}, int error_number = EPERM) {
    refuse({name, __NR_SCMP_ERROR}, when, error_number);
  }

  void refuse(numbered_call call, std::initializer_list<condition> when = {}, int error_number = EPERM) {
    int number = ::seccomp_syscall_resolve_name(call.name);
    if (number == __NR_SCMP_ERROR) number = is_native_ ? call.number : __NR_SCMP_ERROR;
    if (number == __NR_SCMP_ERROR) return;
    const auto count = static_cast<unsigned>(when.size());
    check(::seccomp_rule_add_array(context_, SCMP_ACT_ERRNO(static_cast<unsigned>(error_number)), number, count,
                                   when.begin()));
  }

  unique_fd program() const {
    unique_fd fd(check_syscall(::memfd_create("berth-filter", MFD_CLOEXEC), "a filter of system calls"));
    check(::seccomp_export_bpf(context_, fd.get()));
    check_syscall(::lseek(fd.get(), 0, SEEK_SET), "a filter of system calls");
    return fd;
  }

 private:
  void choose(std::uint32_t architecture) {
    if (architecture == ::seccomp_arch_native()) return;
    check(::seccomp_arch_add(context_, architecture));
    check(::seccomp_arch_remove(context_, SCMP_ARCH_NATIVE));
    is_native_ = false;
  }

  static void check(int result) {
    if (result < 0) throw error(std::error_code(-result, std::system_category()), "a filter of system calls");
  }

  scmp_filter_ctx context_;
  bool is_native_ = true;
};

void refuse_namespaces(filter_builder& filter) {
  for (const std::uint64_t each : new_namespaces) {
    filter.refuse("unshare", {has_bits(0, each)});
    if (each != new_time_namespace) filter.refuse("clone", {has_bits(0, each)});
  }
  filter.refuse("clone3", {}, ENOSYS);  // its flags lie in memory; libc falls back to clone
}

/// Programs that others would run with our user's rights.
void refuse_setuid(filter_builder& filter) {
  constexpr std::uint64_t tmpfile = 020000000;
  for (const std::uint64_t bit : {std::uint64_t{S_ISUID}, std::uint64_t{S_ISGID}}) {
    filter.refuse("chmod", {has_bits(1, bit)});
    filter.refuse("fchmod", {has_bits(1, bit)});
    filter.refuse("fchmodat", {has_bits(2, bit)});
    filter.refuse(change_mode_2, {has_bits(2, bit)});
    filter.refuse("creat", {has_bits(1, bit)});
    filter.refuse("mknod", {has_bits(1, bit)});
    filter.refuse("mknodat", {has_bits(2, bit)});
    // Without these flags the argument means nothing, and may be anything.
    for (const std::uint64_t flag : {std::uint64_t{O_CREAT}, tmpfile}) {
      filter.refuse("open", {has_bits(1, flag), has_bits(2, bit)});
      filter.refuse("openat", {has_bits(2, flag), has_bits(3, bit)});
    }
  }
  filter.refuse("openat2", {}, ENOSYS);  // its mode lies in memory
}

void refuse_terminal_input(filter_builder& filter) {
  constexpr std::uint64_t push_input = 0x5412;     // TIOCSTI
  constexpr std::uint64_t console_paste = 0x541c;  // TIOCLINUX
  // The kernel looks at the low word only.
  filter.refuse("ioctl", {is_word(1, push_input)});
  filter.refuse("ioctl", {is_word(1, console_paste)});
}

/// Limits and turns at the processor are given by number and user alone, and would end or starve the resident, which is process 1.
void refuse_hold_of_resident(filter_builder& filter) {
  constexpr std::uint64_t resident = 1;
  for (const char* each : {"prlimit64", "sched_setaffinity", "sched_setscheduler", "sched_setparam", "sched_setattr"}) {
    filter.refuse(each, {is_word(0, resident)});
  }
  // A process, its group, and all of the user.
  struct by_kind {
    const char* name;
    std::uint64_t process, group, user;
  };
  for (const by_kind& each : {by_kind{"setpriority", 0, 1, 2}, by_kind{"ioprio_set", 1, 2, 3}}) {
    filter.refuse(each.name, {is_word(0, each.process), is_word(1, resident)});
    filter.refuse(each.name, {is_word(0, each.group), is_word(1, resident)});
    filter.refuse(each.name, {is_word(0, each.user)});
  }
}

/// Whoever opens a file under a lease waits, for 45 seconds as a rule: any file of this user, and any program.
void refuse_leases(filter_builder& filter) {
  constexpr std::uint64_t set_lease = 1024;
  constexpr std::uint64_t set_delegation = 1040;  // Linux 6.19
  for (const std::uint64_t each : {set_lease, set_delegation}) filter.refuse("fcntl", {is_word(1, each)});
}

void refuse_sockets(filter_builder& filter, access_rule unix_sockets) {
  constexpr std::uint64_t unix_family = 1;
  constexpr std::uint64_t packet_family = 17;
  constexpr std::uint64_t vsock_family = 40;  // to the hypervisor
  constexpr std::uint64_t type_bits = 0xf;    // the others are flags
  filter.refuse("socket", {is_word(0, packet_family)});
  filter.refuse("socket", {is_word(0, vsock_family)});
  if (unix_sockets == access_rule::allow) return;
  filter.refuse("socket", {is_word(0, unix_family)});
  // One of a pair of datagram sockets can send to any other, and be sent to. SOCK_RAW means the same here.
  for (const std::uint64_t type : {std::uint64_t{SOCK_DGRAM}, std::uint64_t{SOCK_RAW}})
    filter.refuse("socketpair", {is_word(0, unix_family), {1, SCMP_CMP_MASKED_EQ, type_bits, type}});
}

}  // namespace

unique_fd make_syscall_filter(access_rule unix_sockets, filter_architecture which) {
  filter_builder filter(which);
  for (const char* each : refused) filter.refuse(each);
  refuse_namespaces(filter);
  refuse_setuid(filter);
  refuse_terminal_input(filter);
  refuse_hold_of_resident(filter);
  refuse_leases(filter);
  refuse_sockets(filter, unix_sockets);
  return filter.program();
}

}  // namespace berth
