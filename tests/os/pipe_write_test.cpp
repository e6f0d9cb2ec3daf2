#include "os/pipe_write.hpp"

#include "os/unique_fd.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace berth::test {
namespace {

bool is_pending(int signo) {
  sigset_t pending;
  ::sigemptyset(&pending);
  ::sigpending(&pending);
  return ::sigismember(&pending, signo) == 1;
}

TEST_CASE("pipe write: a pipe that nobody reads is an error, not a signal") {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  unique_fd reading(ends[0]);
  const unique_fd writing(ends[1]);
  CHECK(write_no_sigpipe(writing.get(), "abc", 3) == 3);
  reading.reset();
  const auto old = ::signal(SIGPIPE, SIG_DFL);
  CHECK(write_no_sigpipe(writing.get(), "abc", 3) == -1);
  CHECK(errno == EPIPE);
  CHECK_FALSE(is_pending(SIGPIPE));
  ::signal(SIGPIPE, old);
}

}  // namespace
}  // namespace berth::test
