#include "isolation_cases/case_site.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

/// Makes system calls by name, and fails with the kernel's text.
constexpr const char* attempt = R"(
import ctypes, fcntl, os, platform, signal, socket, struct, sys, time
libc = ctypes.CDLL(None, use_errno=True)
NUMBERS = {  # x86-64, aarch64
    'add_key': (248, 217), 'bpf': (321, 280), 'chroot': (161, 51), 'clock_settime': (227, 112), 'io_uring_setup': (425, 425),
    'keyctl': (250, 219), 'mount': (165, 40), 'pidfd_getfd': (438, 438), 'pidfd_open': (434, 434),
    'pidfd_send_signal': (424, 424), 'pivot_root': (155, 41), 'prlimit64': (302, 261), 'process_vm_readv': (310, 270),
    'ptrace': (101, 117), 'sched_setaffinity': (203, 122), 'sethostname': (170, 161), 'setpriority': (141, 140),
    'shmget': (29, 194), 'tgkill': (234, 131), 'umount2': (166, 39), 'unshare': (272, 97), 'userfaultfd': (323, 282)}
def call(name, *args):
    number = NUMBERS[name][platform.machine() != 'x86_64']
    words = [a if isinstance(a, (bytes, ctypes.Array)) else ctypes.c_long(a) for a in args]
    got = libc.syscall(ctypes.c_long(number), *words)
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), name)
    return got
def nested():
    try: call('unshare', 0x10020000)
    except OSError: pass
def control(fd, request):
    if libc.ioctl(fd, ctypes.c_ulong(request), b'x') < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), 'ioctl')
)";

void write(const fs::path& path, std::string_view bytes) {
  fs::create_directories(path.parent_path());
  write_whole_file(path, bytes);
}

void describe(const fs::path& path, std::string& to) {
  struct stat about {};
  if (::lstat(path.c_str(), &about) != 0) {
    to += path.string() + " is gone\n";
    return;
  }
  to += path.filename().string() + " " + std::to_string(about.st_mode) + " " + std::to_string(about.st_uid);
  to += " " + std::to_string(about.st_mtim.tv_sec) + "." + std::to_string(about.st_mtim.tv_nsec) + " ";
  to += (S_ISREG(about.st_mode) ? read_whole_file(path) : std::string()) + "\n";
}

task<void> script_body(asio::io_context& io, const case_site& site, isolation_settings settings, std::string script,
                       expectation expected) {
  auto [place, where] = co_await open_site(io, site, settings);
  const std::string before = site.untouchable();
  const exec_result got = co_await place.exec(where, command(script).merge_stderr());
  CAPTURE(got.std_out);
  CAPTURE(got.status.message());
  CHECK(got.status.reason() == end_reason::exited);
  CHECK((got.status.code() == 0) == (expected.what == expectation::kind::works));
  const bool is_hidden = expected.what == expectation::kind::refused_outside && settings.tmp() == tmp_kind::own;
  if (!is_hidden) CHECK(got.std_out.find(expected.text) != std::string::npos);
  CHECK(site.untouchable() == before);
  co_await place.destroy(where);
}

bool makes_sandboxes() {
  static const bool yes = fs::exists("/usr/bin/bwrap") &&
                          std::system("bwrap --unshare-user --unshare-net --ro-bind / / --proc /proc true") == 0;
  return yes;
}

}  // namespace

case_site::case_site() {
  write(root() + "/attempt.py", attempt);
  write(root() + "/.git/hooks/pre-commit", "old");
  write(root() + "/.git/config", "old");
  write(outside() + "/f", "old");
  fs::create_symlink(outside() + "/f", root() + "/link");
  fs::create_directory_symlink(outside(), root() + "/dir");
}

process_context_options case_site::options(isolation_settings settings) const {
  process_context_options options;
  options.cwd = root();
  options.isolation = std::move(settings);
  options.env = {{"PATH", "/usr/bin:/bin:/usr/sbin:/sbin"},
                 {"LC_ALL", "C"},
                 {"OUT", outside()},
                 {"HOST_PID", std::to_string(::getpid())},
                 {"PYTHONDONTWRITEBYTECODE", "1"}};
  return options;
}

std::string case_site::untouchable() const {
  std::vector<fs::path> all;
  for (const auto& each : fs::recursive_directory_iterator(outside())) all.push_back(each.path());
  for (const auto& each : fs::recursive_directory_iterator(root() + "/.git")) all.push_back(each.path());
  all.emplace_back(outside());
  std::sort(all.begin(), all.end());
  std::string text;
  for (const fs::path& each : all) describe(each, text);
  return text;
}

isolation_settings sees_sites() { return isolation_settings().tmp(tmp_kind::host); }

void run_script_case(const char* name, const std::string& script, const expectation& expected) {
  if (lacks(name)) return;
  if (script.find("python3") != std::string::npos && lacks(name, "/usr/bin/python3")) return;
  const isolation_settings both[] = {sees_sites(), isolation_settings().network(access_rule::allow)};
  for (const isolation_settings& settings : both) {
    const std::string network = settings.network() == access_rule::allow ? "allowed" : "denied";
    CAPTURE(network);
    const case_site site;
    const auto body = [&](asio::io_context& io) { return script_body(io, site, settings, script, expected); };
    run_async(body, case_patience);
  }
}

bool lacks(const char* name, const std::string& program) {
  if (!fs::exists(program)) {
    std::printf("SKIPPED: %s: no %s\n", name, program.c_str());
    return true;
  }
  if (makes_sandboxes()) return false;
  std::printf("SKIPPED: %s: no sandbox can be made here\n", name);
  return true;
}

task<opened_site> open_site(asio::io_context& io, const case_site& site, isolation_settings settings) {
  process_context_options options = site.options(std::move(settings));
  context place = make_process_context(io, std::move(options));
  auto spawning = place.spawn();
  handle where = co_await std::move(spawning);
  co_return opened_site(std::move(place), std::move(where));
}

}  // namespace berth::test
