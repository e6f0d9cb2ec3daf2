/// Cases 19-29, 32, 33 and 36-42: processes, sockets, the kernel and descriptors.
#include "isolation_cases/case_site.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

SCRIPT_CASE(19, "a process of the host is not there", "/bin/kill -0 $HOST_PID", refused("No such process"))
SCRIPT_CASE(19, "few processes are to be seen", "test $(ls -d /proc/[0-9]* | wc -l) -le 5", works())
SCRIPT_CASE(20, "tracing a process of the host",
            "python3 -c 'from attempt import *; call(\"ptrace\", 16, int(os.environ[\"HOST_PID\"]), 0, 0)'",
            refused(not_permitted))
SCRIPT_CASE(21, "what process 1 was started with is not to be read", "cat /proc/1/environ", refused("ermi"))
SCRIPT_CASE(28, "the own loopback answers",
            "python3 -c 'from attempt import *; s = socket.create_server((\"127.0.0.1\", 0)); "
            "socket.create_connection(s.getsockname()); s.accept()'",
            works())
SCRIPT_CASE(29a, "a socket to the hypervisor", "python3 -c 'from attempt import *; socket.socket(40, 1)'",
            refused(not_permitted))
SCRIPT_CASE(29b, "a raw socket", "python3 -c 'from attempt import *; socket.socket(2, 3, 1)'", refused(not_permitted))
SCRIPT_CASE(29b, "a packet socket", "python3 -c 'from attempt import *; socket.socket(17, 3)'", refused(not_permitted))
SCRIPT_CASE(29c, "io_uring",
            "python3 -c 'from attempt import *; call(\"io_uring_setup\", 1, ctypes.create_string_buffer(256))'",
            refused(not_permitted))
SCRIPT_CASE(29d, "a key of the user's keyring",
            "python3 -c 'from attempt import *; call(\"add_key\", b\"user\", b\"berth-test\", b\"x\", 1, -4)'",
            refused(not_permitted))
SCRIPT_CASE(29e, "bpf", "python3 -c 'from attempt import *; call(\"bpf\", 0, 0, 0)'", refused(not_permitted))
SCRIPT_CASE(29e, "userfaultfd", "python3 -c 'from attempt import *; call(\"userfaultfd\", 1)'", refused(not_permitted))
// The value that is there, should it be written after all.
SCRIPT_CASE(36, "a setting of the kernel", "cat /proc/sys/kernel/core_pattern >p; cat p >/proc/sys/kernel/core_pattern",
            refused("core_pattern"))
SCRIPT_CASE(37, "the name of the host", "python3 -c 'from attempt import *; call(\"sethostname\", b\"berth\", 5)'",
            refused(not_permitted))
// The present time, should it be set after all.
SCRIPT_CASE(37, "the clock",
            "python3 -c 'from attempt import *; n = time.time_ns(); call(\"clock_settime\", 0, "
            "struct.pack(\"qq\", n // 10**9, n % 10**9))'",
            refused(not_permitted))
SCRIPT_CASE(37, "a device", "mknod m c 1 3", refused(not_permitted))
SCRIPT_CASE(37, "chroot", "python3 -c 'from attempt import *; call(\"chroot\", b\".\")'", refused(not_permitted))
SCRIPT_CASE(37, "a mount",
            "mkdir m; python3 -c 'from attempt import *; call(\"mount\", b\"none\", b\"m\", b\"tmpfs\", 0, 0)'",
            refused(not_permitted))
SCRIPT_CASE(38, "a set-user-id file", "cp /usr/bin/id i && chmod 4755 i", refused(not_permitted))
SCRIPT_CASE(38, "one that is made as such",
            "python3 -c 'from attempt import *; os.open(\"j\", os.O_CREAT | os.O_WRONLY, 0o4755)'",
            refused(not_permitted))
SCRIPT_CASE(39, "no new privileges, no capabilities",
            "grep -q '^NoNewPrivs:.1' /proc/self/status && grep -q '^CapEff:.0*$' /proc/self/status && "
            "grep -q '^CapBnd:.0*$' /proc/self/status && grep -q '^Seccomp:.2' /proc/self/status",
            works())

// ---- sockets of the host ----------------------------------------------------------------------------------------------

/// A listening socket of this program.
class listener {
 public:
  explicit listener(std::uint16_t) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listen_at(reinterpret_cast<const sockaddr*>(&address), sizeof address);
    socklen_t size = sizeof address;
    REQUIRE(::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) == 0);
    port_ = ntohs(address.sin_port);
  }
  /// A path, or an abstract name that begins with a NUL.
  explicit listener(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    REQUIRE(path.size() < sizeof address.sun_path);
    std::copy(path.begin(), path.end(), address.sun_path);
    const std::size_t more = path.front() == '\0' ? 0 : 1;
    listen_at(reinterpret_cast<const sockaddr*>(&address),
              static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() + more));
  }
  ~listener() { ::close(fd_); }
  listener(const listener&) = delete;
  listener& operator=(const listener&) = delete;

  std::string port() const { return std::to_string(port_); }

 private:
  void listen_at(const sockaddr* address, socklen_t size) {
    fd_ = ::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(::bind(fd_, address, size) == 0);
    REQUIRE(::listen(fd_, 8) == 0);
  }

  int fd_ = -1;
  std::uint16_t port_ = 0;
};

task<exec_result> run_with(asio::io_context& io, const case_site& site, isolation_settings settings, std::string text) {
  auto [place, where] = co_await open_site(io, site, std::move(settings));
  exec_result got = co_await place.exec(where, command(std::move(text)).merge_stderr());
  co_await place.destroy(where);
  co_return got;
}

std::string connect_unix(const std::string& python_address) {
  return "python3 -c 'from attempt import *; socket.socket(1).connect(" + python_address + ")'";
}

isolation_settings network(access_rule rule) { return sees_sites().network(rule); }

ASYNC_TEST_FOR("isolation 22: abstract sockets of the host, network denied", case_patience) {
  if (lacks("isolation 22") || lacks("isolation 22", "/usr/bin/python3")) co_return;
  const case_site site;
  const std::string name = "berth-case-" + std::to_string(::getpid());
  const listener here(std::string(1, '\0') + name);
  const std::string text = connect_unix("\"\\0" + name + "\"");
  exec_result got = co_await run_with(io, site, network(access_rule::deny), text);
  CHECK(got.std_out.find(not_permitted) != std::string::npos);
  got = co_await run_with(io, site, network(access_rule::deny).unix_sockets(access_rule::allow), text);
  CHECK(got.std_out.find("Connection refused") != std::string::npos);
}

ASYNC_TEST_FOR("isolation 23: a limit: with the network allowed abstract sockets of the host answer", case_patience) {
  if (lacks("isolation 23") || lacks("isolation 23", "/usr/bin/python3")) co_return;
  const case_site site;
  const std::string name = "berth-case-" + std::to_string(::getpid());
  const listener here(std::string(1, '\0') + name);
  const std::string text = connect_unix("\"\\0" + name + "\"");
  exec_result got = co_await run_with(io, site, network(access_rule::allow), text);
  CHECK(got.ok());
  got = co_await run_with(io, site, network(access_rule::allow).unix_sockets(access_rule::deny), text);
  CHECK(got.std_out.find(not_permitted) != std::string::npos);
}

ASYNC_TEST_FOR("isolation 24: sockets in the file system, network denied", case_patience) {
  if (lacks("isolation 24") || lacks("isolation 24", "/usr/bin/python3")) co_return;
  const case_site site;
  const listener here(site.outside() + "/s");
  const exec_result got =
      co_await run_with(io, site, network(access_rule::deny), connect_unix("os.environ[\"OUT\"] + \"/s\""));
  CHECK(got.std_out.find(not_permitted) != std::string::npos);
}

ASYNC_TEST_FOR("isolation 25: a limit: with the network allowed they answer, but for those that are known",
               case_patience) {
  if (lacks("isolation 25") || lacks("isolation 25", "/usr/bin/python3")) co_return;
  const case_site site;
  const listener here(site.outside() + "/s");
  const std::string text = connect_unix("os.environ[\"OUT\"] + \"/s\"");
  exec_result got = co_await run_with(io, site, network(access_rule::allow), text);
  CHECK(got.ok());
  const variable_is agent("SSH_AUTH_SOCK", site.outside() + "/s");
  got = co_await run_with(io, site, network(access_rule::allow), text);
  CHECK(got.std_out.find("Connection refused") != std::string::npos);
}

ASYNC_TEST_FOR("isolation 26, 27: the loopback of the host is another, or with the network allowed the same",
               case_patience) {
  if (lacks("isolation 26, 27") || lacks("isolation 26, 27", "/usr/bin/python3")) co_return;
  const case_site site;
  const listener here(std::uint16_t{0});
  const std::string text =
      "python3 -c 'from attempt import *; socket.create_connection((\"127.0.0.1\", " + here.port() + "), 20)'";
  exec_result got = co_await run_with(io, site, network(access_rule::deny), text);
  CHECK(got.std_out.find("Connection refused") != std::string::npos);
  got = co_await run_with(io, site, network(access_rule::allow), text);
  CHECK(got.ok());
}

// ---- memory and descriptors that are shared ---------------------------------------------------------------------------

ASYNC_TEST_FOR("isolation 32: /dev/shm is its own", case_patience) {
  if (lacks("isolation 32")) co_return;
  const case_site site;
  const std::string name = "/dev/shm/berth-case-" + std::to_string(::getpid());
  const exec_result got = co_await run_with(io, site, network(access_rule::allow), "echo x >" + name);
  CHECK(got.ok());
  CHECK(!fs::exists(name));
}

ASYNC_TEST_FOR("isolation 33: shared memory of the host is not there", case_patience) {
  if (lacks("isolation 33") || lacks("isolation 33", "/usr/bin/python3")) co_return;
  const case_site site;
  const key_t key = 0x42000000 + (::getpid() & 0xffffff);
  const int id = ::shmget(key, 4096, IPC_CREAT | 0600);
  CHECK(id >= 0);
  const std::string text = "python3 -c 'from attempt import *; call(\"shmget\", " + std::to_string(key) + ", 4096, 0)'";
  const exec_result got = co_await run_with(io, site, network(access_rule::allow), text);
  CHECK(got.std_out.find("No such file") != std::string::npos);
  ::shmctl(id, IPC_RMID, nullptr);
}

/// A descriptor that a careless program leaves open for what it starts.
class careless_fd {
 public:
  careless_fd(const std::string& path, int flags, int number) : fd_(number) {
    const int opened = ::open(path.c_str(), flags | O_CLOEXEC);
    REQUIRE(opened >= 0);
    REQUIRE(::dup2(opened, number) == number);
    ::close(opened);
  }
  ~careless_fd() { ::close(fd_); }
  careless_fd(const careless_fd&) = delete;
  careless_fd& operator=(const careless_fd&) = delete;

 private:
  int fd_;
};

ASYNC_TEST_FOR("isolation 40-42: descriptors of the host program do not come along", case_patience) {
  if (lacks("isolation 40-42")) co_return;
  const case_site site;
  const careless_fd writing(site.outside() + "/f", O_RDWR, 50);
  const careless_fd directory(site.outside(), O_RDONLY | O_DIRECTORY, 51);
  const careless_fd reading(site.outside() + "/f", O_RDONLY, 52);
  const std::string before = site.untouchable();
  const exec_result got =
      co_await run_with(io, site, sees_sites(),
                        "bash -c 'echo x >&50'; echo x >/proc/self/fd/51/new; echo x >/proc/self/fd/52; "
                        "for p in /proc/[0-9]*; do for f in 50 51 52; do [ -e $p/fd/$f ] && echo FOUND $p; done; done; "
                        "ls /proc/self/fd | wc -l");
  CHECK(got.std_out.find("Bad file descriptor") != std::string::npos);
  CHECK(got.std_out.find("FOUND") == std::string::npos);
  CHECK(got.std_out.ends_with("\n4\n"));  // the standard ones, and that of ls
  CHECK(site.untouchable() == before);
}

}  // namespace
}  // namespace berth::test
