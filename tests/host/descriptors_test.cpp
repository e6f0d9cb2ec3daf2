/// Descriptors of the owner: how many a command takes, and what happens without.
#include "host/host_world.hpp"
#include "support/proc_scan.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace berth::test {
namespace {

/// The limit under which two more can be opened.
rlim_t room_for_two() {
  const int first = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
  const int second = ::fcntl(0, F_DUPFD_CLOEXEC, 0);
  ::close(first);
  ::close(second);
  return static_cast<rlim_t>(second) + 1;
}

ASYNC_TEST("host: a start without room for its descriptors fails, and nothing ran") {
  context place = make_host(io);
  const handle where = co_await place.spawn();
  rlimit old{};
  ::getrlimit(RLIMIT_NOFILE, &old);
  rlimit tight = old;
  // Two are left, which a sanitizer needs now and then; with its input the command takes three.
  tight.rlim_cur = room_for_two();
  ::setrlimit(RLIMIT_NOFILE, &tight);
  const exec_result refused = co_await place.exec(where, command("touch ran").input("x"));
  ::setrlimit(RLIMIT_NOFILE, &old);
  CHECK(refused.status.reason() == end_reason::start_failed);
  CHECK(refused.status.message().find("too many open files") == 0);
  const exec_result after = co_await place.exec(where, command("test ! -e ran"));
  CHECK(after.status.ok());
  co_await place.destroy(where);
}

task<int> run_some(context& place, handle where, int count) {
  int good = 0;
  for (int i = 0; i < count; ++i) {
    command what = argv("/bin/true");
    const exec_result result = co_await place.exec(where, std::move(what));
    good += result.ok() ? 1 : 0;
  }
  co_return good;
}

ASYNC_TEST_FOR("host: 5000 commands, 64 at a time, leave descriptors and children as they were", 240s) {
  context place = make_host(io);
  const handle where = co_await place.spawn();
  (void)co_await place.exec(where, command("true"));
  const std::size_t before = open_descriptor_count();
  std::vector<running<int>> all;
  for (int i = 0; i < 64; ++i) all.emplace_back(io.get_executor(), run_some(place, where, i < 8 ? 79 : 78));
  int good = 0;
  for (auto& each : all) good += co_await each.result();
  CHECK(good == 5000);
  CHECK(open_descriptor_count() == before);
  CHECK(residents().size() == 1);
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
