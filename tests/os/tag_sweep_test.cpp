#include "os/tag_sweep.hpp"

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::test {
namespace {

using namespace std::chrono_literals;

pid_t tagged_child(rlim_t soft, rlim_t hard) {
  int ready[2];
  REQUIRE(::pipe(ready) == 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::signal(SIGTERM, SIG_DFL);
    const rlimit tag{soft, hard};
    if (::setrlimit(RLIMIT_LOCKS, &tag) != 0) ::_exit(1);
    ::close(ready[0]);
    ::close(ready[1]);
    for (;;) ::pause();
  }
  ::close(ready[1]);
  char byte = 0;
  CHECK(::read(ready[0], &byte, 1) == 0);
  ::close(ready[0]);
  return pid;
}

int signal_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

TEST_CASE("tag sweep: it ends those with the nonce in either limit, and nobody else") {
  constexpr std::uint32_t nonce = 0x5eedbe47;
  constexpr rlim_t tag = rlim_t{nonce} << 32;
  const pid_t plain = tagged_child(tag | 7, tag | 7);
  const pid_t nested = tagged_child(rlim_t{0x1234} << 32 | 1, tag | 8);
  const pid_t other = tagged_child(rlim_t{0x1234} << 32 | 2, rlim_t{0x1234} << 32 | 2);
  const auto survivors = sweep_tagged(nonce, 2s);
  CHECK(survivors.empty());
  CHECK(signal_of(plain) == 9);
  CHECK(signal_of(nested) == 9);
  CHECK(::kill(other, 0) == 0);
  ::kill(other, SIGTERM);
  CHECK(signal_of(other) == SIGTERM);
}

}  // namespace
}  // namespace berth::test
