/// What the namespaces and the filter of a sandbox refuse, tried in one.
#include "isolation/sandboxed.hpp"
#include "isolation/syscall_filter.hpp"
#include "support/skipping.hpp"

#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>

using namespace berth;
using namespace berth::test;

namespace fs = std::filesystem;

namespace {

/// Prints "name errno" for each attempt, 0 where it succeeded. Nothing here does harm where it does.
constexpr const char* attempts = R"(
import ctypes, os, socket, fcntl, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *args):
    ctypes.set_errno(0)
    got = libc.syscall(*[ctypes.c_long(a) for a in args])
    print(name, ctypes.get_errno() if got < 0 else 0)
def attempt(name, what):
    try:
        what(); print(name, 0)
    except OSError as e:
        print(name, e.errno)
NR = dict(ptrace=101, keyctl=250, bpf=321, io_uring=425, userfaultfd=323, unshare=272, mount=165, umount=166, clone3=435,
          openat2=437, pivot_root=155, settime=227, vm_readv=310, pidfd_getfd=438, fchmodat2=452, setns=308, perf=298)
call('ptrace', NR['ptrace'], 16, os.getppid(), 0, 0)
call('keyctl', NR['keyctl'], 0, -3, 1)
call('bpf', NR['bpf'], 0, 0, 0)
call('io_uring', NR['io_uring'], 1, 0)
call('userfaultfd', NR['userfaultfd'], 1)
call('unshare_user', NR['unshare'], 0x10000000)
call('unshare_mounts', NR['unshare'], 0x20000)
call('mount', NR['mount'], 0, 0, 0, 0, 0)
call('umount', NR['umount'], 0, 0)
call('pivot_root', NR['pivot_root'], 0, 0)
call('setns', NR['setns'], 0, 0)
call('clone3', NR['clone3'], 0, 0)
call('openat2', NR['openat2'], -100, 0, 0, 0)
call('vm_readv', NR['vm_readv'], 1, 0, 0, 0, 0, 0)
call('pidfd_getfd', NR['pidfd_getfd'], 0, 0, 0)
call('perf', NR['perf'], 0, 0, 0, 0, 0)
call('x32', 0x40000000 + 39)
path = ctypes.create_string_buffer(b'suid')
open('suid', 'w').close()
attempt('chmod_suid', lambda: os.chmod('suid', 0o4755))
attempt('chmod_plain', lambda: os.chmod('suid', 0o755))
attempt('open_suid', lambda: os.open('suid2', os.O_CREAT | os.O_WRONLY, 0o4755))
attempt('open_odd_mode', lambda: os.open('suid', os.O_RDONLY, 0o4755))
call('fchmodat2', NR['fchmodat2'], -100, ctypes.addressof(path), 0o4755, 0)
for name, family, kind in (('unix', 1, 1), ('vsock', 40, 1), ('packet', 17, 3), ('inet', 2, 1), ('netlink', 16, 3)):
    attempt(name, lambda: socket.socket(family, kind))
attempt('raw', lambda: socket.socket(2, 3, 1))
attempt('unix_pair', lambda: socket.socketpair())
for name, kind in (('unix_datagrams', 2), ('unix_raw', 3), ('unix_datagrams_flags', 2 | 0o2000000)):
    attempt(name, lambda: socket.socketpair(1, kind))
held = os.open('/etc/passwd', os.O_RDONLY)
for name, how in (('lease', 1024), ('delegation', 1040)): call(name, 72, held, how, fcntl.F_RDLCK)
call('lease_high', 72, held, 0x100000400, fcntl.F_RDLCK)
master, slave = os.openpty()
attempt('push_input', lambda: fcntl.ioctl(slave, 0x5412, b'x'))
attempt('push_input_high', lambda: libc.ioctl(slave, ctypes.c_ulong(0x100005412), b'x') and (_ for _ in ()).throw(
    OSError(ctypes.get_errno(), '')))
)";

std::map<std::string, int> try_all(const sandbox_site& site, const isolation_settings& settings = {}) {
  site.write(site.root() + "/attempts.py", attempts);
  const auto end = site.run(site.plan(settings), "python3 attempts.py");
  CAPTURE(end.output);
  CHECK(end.code == 0);
  std::map<std::string, int> all;
  for (std::size_t at = 0; at < end.output.size();) {
    const auto stop = std::min(end.output.find('\n', at), end.output.size());
    const std::string line = end.output.substr(at, stop - at);
    const auto space = line.find(' ');
    if (space != line.npos) all[line.substr(0, space)] = std::atoi(line.c_str() + space);
    at = stop + 1;
  }
  return all;
}

bool can_try() {
#if defined(__x86_64__)
  return has_sandbox() && fs::exists("/usr/bin/python3");
#else
  skip("the numbers of the attempts are those of x86-64");
  return false;
#endif
}

/// A listening socket of this process.
struct listener {
  explicit listener(const sockaddr* address, socklen_t size)
      : fd(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    REQUIRE(::bind(fd.get(), address, size) == 0);
    REQUIRE(::listen(fd.get(), 8) == 0);
  }
  unique_fd fd;
};

}  // namespace

TEST_CASE("filter: it can be made for both architectures, of no more than the kernel takes") {
  for (const auto which : {filter_architecture::native, filter_architecture::x86_64, filter_architecture::aarch64}) {
    for (const auto rule : {access_rule::deny, access_rule::allow}) {
      const unique_fd program = make_syscall_filter(rule, which);
      struct stat about {};
      REQUIRE(::fstat(program.get(), &about) == 0);
      constexpr off_t instruction = 8;
      CHECK(about.st_size % instruction == 0);
      CHECK(about.st_size / instruction > 50);
      CHECK(about.st_size / instruction <= 4096);
    }
  }
}

TEST_CASE("filter: what reaches out of a sandbox, or around its limits, is refused") {
  if (!can_try()) return;
  for (const uid_t user : sandbox_users()) {
    CAPTURE(user);
    const sandbox_site site(user);
    auto got = try_all(site);
    for (const std::string each : {"ptrace",
                                   "keyctl",
                                   "bpf",
                                   "io_uring",
                                   "userfaultfd",
                                   "unshare_user",
                                   "unshare_mounts",
                                   "mount",
                                   "umount",
                                   "pivot_root",
                                   "setns",
                                   "vm_readv",
                                   "pidfd_getfd",
                                   "perf",
                                   "x32",
                                   "chmod_suid",
                                   "open_suid",
                                   "fchmodat2",
                                   "unix",
                                   "vsock",
                                   "packet",
                                   "raw",
                                   "lease",
                                   "lease_high",
                                   "delegation",
                                   "push_input",
                                   "push_input_high",
                                   "unix_datagrams",
                                   "unix_raw",
                                   "unix_datagrams_flags"}) {
      CAPTURE(each);
      REQUIRE(got.contains(each));
      CHECK(got[each] == EPERM);
    }
    for (const std::string each : {"clone3", "openat2"}) CHECK(got[each] == ENOSYS);
    for (const std::string each : {"chmod_plain", "open_odd_mode", "inet", "netlink", "unix_pair"}) {
      CAPTURE(each);
      REQUIRE(got.contains(each));
      CHECK(got[each] == 0);
    }
    CHECK(!fs::exists(site.root() + "/suid2"));
  }
}

TEST_CASE("filter: unix sockets where they are allowed; the rest stays refused") {
  if (!can_try()) return;
  const sandbox_site site(sandbox_users().back());
  auto got = try_all(site, isolation_settings().network(access_rule::allow));
  CHECK(got["unix"] == 0);
  CHECK(got["vsock"] == EPERM);
  CHECK(got["packet"] == EPERM);
  CHECK(got["mount"] == EPERM);
}

TEST_CASE("sandbox: this host's loopback is out of reach unless the network is allowed; its own works") {
  if (!can_try()) return;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const listener here(reinterpret_cast<const sockaddr*>(&address), sizeof address);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(here.fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const std::string port = std::to_string(ntohs(address.sin_port));
  const std::string connect = "python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", " + port + "), 20)'";
  for (const uid_t user : sandbox_users()) {
    CAPTURE(user);
    const sandbox_site site(user);
    const auto denied = site.run(connect);
    CHECK(denied.code != 0);
    CHECK(denied.output.find("refused") != std::string::npos);
    CHECK(site.run(site.plan(isolation_settings().network(access_rule::allow)), connect).code == 0);
    const auto own = site.run(
        "python3 -c 'import socket; s = socket.create_server((\"127.0.0.1\", 0)); "
        "socket.create_connection(s.getsockname()); s.accept()'");
    CAPTURE(own.output);
    CHECK(own.code == 0);
  }
}

TEST_CASE("sandbox: a socket of this host that lies in a root is out of reach unless unix sockets are allowed") {
  if (!can_try()) return;
  for (const uid_t user : sandbox_users()) {
    const sandbox_site site(user);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = site.root() + "/s";
    REQUIRE(path.size() < sizeof address.sun_path);
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    const listener here(reinterpret_cast<const sockaddr*>(&address), sizeof address);
    fs::permissions(path, fs::perms::all);
    const std::string connect = "python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect(\"s\")'";
    const auto denied = site.run(connect);
    CHECK(denied.code != 0);
    CHECK(denied.output.find("not permitted") != std::string::npos);
    auto plan = site.plan(isolation_settings().unix_sockets(access_rule::allow));
    const auto allowed = site.run(plan, connect);
    CAPTURE(allowed.output);
    CHECK(allowed.code == 0);
    plan.masked_sockets.push_back(path);
    const auto masked = site.run(plan, connect);
    CHECK(masked.code != 0);
    CHECK(masked.output.find("refused") != std::string::npos);
  }
}
