/// How long from a keystroke to its echo by a program in a terminal?

#include "suite/floor.hpp"
#include "suite/keyboard.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace berth::suite {
namespace {

using namespace std::chrono_literals;

// ---- the floor: the two ends of a terminal, read and write ----------------------------------------------------------

struct bare_terminal {
  int master = -1;
  pid_t pid = -1;
};

void await_key(int master) {
  char key = 0;
  if (read_some(master, &key, 1) != 1) throw std::runtime_error("the terminal has ended");
}

task<void> open_bare(std::shared_ptr<bare_terminal> its) {
  its->master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  char name[64] = "";
  if (its->master < 0 || ::grantpt(its->master) != 0 || ::unlockpt(its->master) != 0 ||
      ::ptsname_r(its->master, name, sizeof name) != 0) {
    throw std::system_error(errno, std::generic_category(), "a terminal");
  }
  its->pid = start_on_terminal(worker_words("echo"), name);
  await_key(its->master);
  co_return;
}

task<void> close_bare(std::shared_ptr<bare_terminal> its) {
  if (its->pid > 0) {
    ::kill(its->pid, SIGKILL);
    ::waitpid(its->pid, nullptr, 0);
  }
  if (its->master >= 0) ::close(its->master);
  *its = bare_terminal();
  co_return;
}

task<double> bare_keys(std::shared_ptr<bare_terminal> its) {
  const bench::stopwatch watch;
  for (int i = 0; i < keys_in_sample; ++i) {
    if (::write(its->master, "k", 1) != 1) throw std::system_error(errno, std::generic_category(), "write");
    await_key(its->master);
  }
  co_return watch.micros() / keys_in_sample;
}

// ---- ours -----------------------------------------------------------------------------------------------------------

task<void> open_ours(shared_keyboard its) {
  co_await open_place(its->warm);
  co_await open_keyboard(its);
}

task<void> close_ours(shared_keyboard its) {
  close_keyboard(*its);
  co_await close_place(its->warm);
}

}  // namespace

subjects pty_suite(asio::io_context& io) {
  const auto bare = std::make_shared<bare_terminal>();
  const auto ours = std::make_shared<keyboard>(std::make_shared<warm_place>(io), command(worker_words("echo")));
  subjects all;
  all.push_back({.name = "pty/floor",
                 .runs = 200,
                 .sample = [bare] { return bare_keys(bare); },
                 .prepare = [bare] { return open_bare(bare); },
                 .finish = [bare] { return close_bare(bare); }});
  all.push_back({.name = "pty/host",
                 .bases = {{"pty/floor", 1.2}},
                 .runs = 200,
                 .sample = [ours] { return press_keys(ours); },
                 .prepare = [ours] { return open_ours(ours); },
                 .finish = [ours] { return close_ours(ours); }});
  return all;
}

}  // namespace berth::suite
