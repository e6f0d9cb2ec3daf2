#include "os/helper_process.hpp"

#include "berth/error.hpp"
#include "support/async.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

namespace berth::test {
namespace {

using namespace std::chrono_literals;

helper_process shell(const std::string& text, std::vector<placed_fd> fds = {}) {
  helper_options options;
  options.argv = {"sh", "-c", text};
  options.fds = std::move(fds);
  return helper_process::start("/bin/sh", options);
}

std::string read_to_end(int fd) {
  std::string all;
  char part[4096];
  for (ssize_t n = 0; (n = ::read(fd, part, sizeof part)) > 0;) all.append(part, static_cast<std::size_t>(n));
  return all;
}

/// What a helper prints on a pipe that it has as descriptor 5.
std::string output_of(const std::string& text) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const unique_fd reading(ends[0]);
  unique_fd writing(ends[1]);
  const helper_process child = shell(text, {placed_fd{writing.get(), 5}});
  writing.reset();
  std::string all = read_to_end(reading.get());
  CHECK(child.wait_blocking(5s));
  return all;
}

ASYNC_TEST("helper: its exit status is awaited, and can be asked for again") {
  const helper_process child = shell("exit 3");
  const int first = co_await child.wait();
  const int second = co_await child.wait();
  CHECK(WIFEXITED(first));
  CHECK(WEXITSTATUS(first) == 3);
  CHECK(second == first);
  CHECK(describe_wait_status(first) == "exited with 3");
}

ASYNC_TEST("helper: a kill shows as its signal") {
  const helper_process child = shell("exec sleep 60");
  child.kill(SIGKILL);
  const int status = co_await child.wait();
  CHECK(WIFSIGNALED(status));
  CHECK(describe_wait_status(status) == "was killed by signal 9");
  child.kill(SIGKILL);  // does nothing
}

TEST_CASE("helper: waiting without an io_context ends with the time or with the child") {
  const helper_process child = shell("read line", {});
  CHECK(child.wait_blocking(5s));  // its standard input is /dev/null
  const helper_process slow = shell("exec sleep 30");
  CHECK_FALSE(slow.wait_blocking(30ms));
  CHECK_FALSE(slow.status().has_value());
  slow.kill(SIGTERM);
  CHECK(slow.wait_blocking(5s));
}

TEST_CASE("helper: it has the descriptors it was given, 0 to 2 on /dev/null, and none that is close-on-exec") {
  const unique_fd ours(::fcntl(0, F_DUPFD_CLOEXEC, 40));
  const std::string number = std::to_string(ours.get());
  CHECK(output_of("test -e /proc/$$/fd/" + number + " || echo none >&5") == "none\n");
  CHECK(output_of("all=$(readlink /proc/$$/fd/0 /proc/$$/fd/1 /proc/$$/fd/2); echo \"$all\" >&5") ==
        "/dev/null\n/dev/null\n/dev/null\n");
}

TEST_CASE("helper: a source below the targets is not overwritten by them") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  const unique_fd reading(ends[0]);
  unique_fd writing(ends[1]);
  // Each goes to where the other comes from.
  const helper_process child =
      shell("echo to >&" + std::to_string(reading.get()),
            {placed_fd{reading.get(), writing.get()}, placed_fd{writing.get(), reading.get()}});
  writing.reset();
  CHECK(read_to_end(reading.get()) == "to\n");
  CHECK(child.wait_blocking(5s));
}

TEST_CASE("helper: it leads a process group in our session, with no signal blocked or ignored") {
  sigset_t usr1;
  sigset_t before;
  ::sigemptyset(&usr1);
  ::sigaddset(&usr1, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &usr1, &before);
  const auto old = ::signal(SIGPIPE, SIG_IGN);
  const std::string leads =
      output_of("read -r _ _ _ _ group session _ </proc/$$/stat; [ $$ = $group ] && echo leads $session >&5");
  const std::string blocked = output_of("sed -n 's/^SigBlk:.//p' /proc/self/status >&5; true");
  const std::string ignored = output_of("sed -n 's/^SigIgn:.//p' /proc/self/status >&5; true");
  ::signal(SIGPIPE, old);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  CHECK(leads == "leads " + std::to_string(::getsid(0)) + "\n");
  CHECK(std::stoull(blocked, nullptr, 16) == 0);
  // The two that libc keeps to itself can be inherited.
  CHECK((std::stoull(ignored, nullptr, 16) & 0x7fffffff) == 0);
}

TEST_CASE("helper: a program that is not there is an error of exec") {
  helper_options options;
  options.argv = {"nothing"};
  CHECK_THROWS_AS(helper_process::start("/nonexistent/program", options), error);
}

ASYNC_TEST("helper: a host that ignores its children leaves the status unknown, and that is all") {
  const auto old = ::signal(SIGCHLD, SIG_IGN);
  const helper_process child = shell("exit 3");
  const int status = co_await child.wait();
  ::signal(SIGCHLD, old);
  CHECK(status == helper_process::status_unknown);
}

}  // namespace
}  // namespace berth::test
