#include "isolation_cases/surroundings.hpp"

#include "core/syscall.hpp"
#include "os/helper_process.hpp"
#include "support/temp_dir.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>

namespace berth::test {
namespace {

constexpr std::chrono::seconds patience(60);
constexpr int self_fd = 9;

unique_fd self() { return unique_fd(check_syscall(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "this program")); }

}  // namespace

std::string self_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

self_end run_self(const std::string& shell_text) {
  const unique_fd program = self();
  const temp_dir its_tmp;
  const unique_fd output(check_syscall(::memfd_create("berth-output", MFD_CLOEXEC), "output"));
  helper_options options;
  const std::string variable =
      "SELF='/proc/self/fd/" + std::to_string(self_fd) + " inside'; export TMPDIR=" + its_tmp.path().string() + "; ";
  options.argv = {"sh", "-c", variable + shell_text};
  options.fds = {placed_fd{program.get(), self_fd}, placed_fd{output.get(), 1}, placed_fd{output.get(), 2}};
  const auto child = helper_process::start("/bin/sh", options);
  if (!child.wait_blocking(patience)) {
    child.kill(SIGKILL);
    child.wait_blocking(patience);
  }
  const int status = child.status().value_or(0);
  self_end end;
  end.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  end.output.resize(1 << 16);
  const ssize_t n = ::pread(output.get(), end.output.data(), end.output.size(), 0);
  end.output.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return end;
}

std::string run_owner_and_kill(const std::function<void()>& meanwhile) {
  const unique_fd program = self();
  int ends[2];
  check_syscall(::pipe2(ends, O_CLOEXEC), "pipe");
  const unique_fd reading(ends[0]);
  unique_fd writing(ends[1]);
  helper_options options;
  options.argv = {"owner", "inside", "owner"};
  options.fds = {placed_fd{program.get(), self_fd}, placed_fd{writing.get(), 1}};
  const auto child = helper_process::start("/proc/self/fd/" + std::to_string(self_fd), options);
  writing.reset();
  pollfd poller{reading.get(), POLLIN, 0};
  std::string said(256, '\0');
  const bool speaks = ::poll(&poller, 1, 60000) == 1;
  const ssize_t n = speaks ? ::read(reading.get(), said.data(), said.size()) : 0;
  said.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  meanwhile();
  child.kill(SIGKILL);
  child.wait_blocking(patience);
  return said;
}

}  // namespace berth::test
