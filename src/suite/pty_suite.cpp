/// How long from a keystroke to its echo by a program in a terminal?

#include "suite/floor.hpp"
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

struct our_terminal {
  shared_place warm;
  terminal shown;
  std::uint64_t offset = 0;
};

task<void> next_key(std::shared_ptr<our_terminal> its) {
  const auto piece = co_await its->shown.follow(its->offset);
  if (piece.bytes().empty()) throw std::runtime_error("the terminal has ended");
  its->offset = piece.next();
}

task<void> open_ours(std::shared_ptr<our_terminal> its) {
  co_await open_place(its->warm);
  context place = *its->warm->place;
  auto how = terminal_options().run(command(worker_words("echo")));
  its->shown = co_await place.open_terminal(its->warm->where, std::move(how));
  its->offset = 0;
  co_await next_key(its);
}

task<void> close_ours(std::shared_ptr<our_terminal> its) {
  its->shown = terminal();
  co_await close_place(its->warm);
}

task<double> our_keys(std::shared_ptr<our_terminal> its) {
  const bench::stopwatch watch;
  for (int i = 0; i < keys_in_sample; ++i) {
    co_await its->shown.write("k");
    co_await next_key(its);
  }
  co_return watch.micros() / keys_in_sample;
}

}  // namespace

subjects pty_suite(asio::io_context& io) {
  const auto bare = std::make_shared<bare_terminal>();
  const auto ours = std::make_shared<our_terminal>();
  ours->warm = std::make_shared<warm_place>(io);
  subjects all;
  all.push_back({.name = "pty/floor",
                 .runs = 200,
                 .sample = [bare] { return bare_keys(bare); },
                 .prepare = [bare] { return open_bare(bare); },
                 .finish = [bare] { return close_bare(bare); }});
  all.push_back({.name = "pty/host",
                 .bases = {{"pty/floor", 1.2}},
                 .runs = 200,
                 .sample = [ours] { return our_keys(ours); },
                 .prepare = [ours] { return open_ours(ours); },
                 .finish = [ours] { return close_ours(ours); }});
  return all;
}

}  // namespace berth::suite
