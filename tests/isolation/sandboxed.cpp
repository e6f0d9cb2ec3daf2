#include "isolation/sandboxed.hpp"

#include "core/syscall.hpp"
#include "isolation/bwrap.hpp"
#include "isolation/syscall_filter.hpp"
#include "os/helper_process.hpp"
#include "support/skipping.hpp"

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds patience(60);

unique_fd memory(std::string_view bytes) {
  unique_fd fd(check_syscall(::memfd_create("berth-test", MFD_CLOEXEC), "memfd_create"));
  check_syscall(::write(fd.get(), bytes.data(), bytes.size()), "write");
  check_syscall(::lseek(fd.get(), 0, SEEK_SET), "lseek");
  return fd;
}

std::string content(const unique_fd& fd) {
  std::string text(1 << 20, '\0');
  const ssize_t n = ::pread(fd.get(), text.data(), text.size(), 0);
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

std::vector<std::string> as_user(uid_t user, std::vector<std::string> words) {
  if (user == ::geteuid()) return words;
  const std::string id = std::to_string(user);
  std::vector<std::string> all{"setpriv", "--reuid=" + id, "--regid=" + id, "--clear-groups"};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

sandboxed_end run_as(uid_t user, std::vector<std::string> words, std::vector<placed_fd> fds) {
  const unique_fd output = memory({});
  helper_options options;
  options.argv = as_user(user, std::move(words));
  options.env = std::vector<std::string>{"PATH=/usr/bin:/bin"};
  options.fds = std::move(fds);
  options.fds.push_back({output.get(), 1});
  options.fds.push_back({output.get(), 2});
  const auto child = helper_process::start("/usr/bin/" + options.argv.front(), options);
  if (!child.wait_blocking(patience)) {
    child.kill(SIGKILL);
    child.wait_blocking(patience);
  }
  const int status = child.status().value_or(0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), content(output)};
}

}  // namespace

sandbox_site::sandbox_site(uid_t user) : user_(user) {
  // Newer bwraps open what lies above a root for reading.
  fs::permissions(at_.path(), static_cast<fs::perms>(0755));
  for (const std::string& each : {root(), outside(), tmp()}) {
    fs::create_directories(each);
    check_syscall(::chown(each.c_str(), user, user), "chown");
  }
}

void sandbox_site::write(const std::string& path, std::string_view bytes) const {
  fs::create_directories(fs::path(path).parent_path());
  write_whole_file(path, bytes);
  for (fs::path each = path; each.string().size() > at_.path().string().size(); each = each.parent_path()) {
    check_syscall(::chown(each.c_str(), user_, user_), "chown");
  }
}

isolation_plan sandbox_site::plan(const isolation_settings& settings) const {
  const std::string own = settings.tmp() == tmp_kind::own ? tmp() : std::string();
  return make_isolation_plan(settings, {root()}, own);
}

sandboxed_end sandbox_site::run(const isolation_plan& plan, const std::string& text) const {
  make_mount_points(plan);
  std::string words;
  for (const std::string& each : bwrap_arguments(plan, {"PATH=/usr/bin:/bin", "LC_ALL=C"}, 5)) words += each + '\0';
  const unique_fd arguments = memory(words);
  const unique_fd filter = make_syscall_filter(plan.unix_sockets);
  const std::string whole = "cd '" + root() + "' && " + text;
  return run_as(user_, {"bwrap", "--args", "4", "--", "/bin/sh", "-c", whole},
                {placed_fd{arguments.get(), 4}, placed_fd{filter.get(), 5}});
}

std::vector<uid_t> sandbox_users() {
  constexpr uid_t nobody = 65534;
  if (::geteuid() == 0) return {0, nobody};
  return {::geteuid()};
}

bool has_sandbox() {
  static const sandboxed_end tried =
      fs::exists("/usr/bin/bwrap")
          ? run_as(::geteuid(),
                   {"bwrap", "--unshare-user", "--unshare-net", "--ro-bind", "/", "/", "--proc", "/proc", "true"}, {})
          : sandboxed_end{127, "no /usr/bin/bwrap"};
  if (tried.code != 0) skip("no sandbox can be made here: " + tried.output);
  return tried.code == 0;
}

}  // namespace berth::test
