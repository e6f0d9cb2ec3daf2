/// Spawning on this host, and the way of frames.
#include "host/host_world.hpp"

#include "berth/error.hpp"
#include "support/temp_dir.hpp"

#include <sys/wait.h>
#include <filesystem>

namespace berth::test {
namespace {

ASYNC_TEST("host: a working directory is made with its parents, and is a real path") {
  const temp_dir directory;
  std::filesystem::create_directory(directory.path() / "real");
  std::filesystem::create_symlink(directory.path() / "real", directory.path() / "link");
  context place = make_host(io);
  const handle where = co_await place.spawn(spawn_options().cwd(directory / "link/a/b"));
  CHECK(where.cwd() == std::filesystem::canonical(directory.path() / "real/a/b").string());
  const exec_result result = co_await place.exec(where, command("pwd"));
  CHECK(result.std_out == where.cwd() + "\n");
  co_await place.destroy(where);
}

ASYNC_TEST("host: a working directory below a file is refused") {
  const temp_dir directory;
  write_whole_file(directory / "file", "x");
  context place = make_host(io);
  std::error_code code;
  try {
    (void)co_await place.spawn(spawn_options().cwd(directory / "file/below"));
  } catch (const error& caught) {
    code = caught.code();
  }
  CHECK(code == errc::not_a_directory);
}

ASYNC_TEST("host: over frames a command reads, writes and ends as over its own pipes") {
  context place = make_host(io, resident_transport::framed);
  const handle where = co_await place.spawn();
  const exec_result copied =
      co_await place.exec(where, argv("cat").input(std::string(1 << 20, 'c')).output_limit(2 << 20));
  CHECK(copied.std_out.size() == 1 << 20);
  const exec_result large =
      co_await place.exec(where, command("head -c 50000000 /dev/zero; exit 4").output_limit(1000));
  CHECK(large.out.seen() == 50000000);
  CHECK(large.status.code() == 4);
  co_await place.destroy(where);
}

ASYNC_TEST("host: an owner that forked and died takes its commands along, though the copy holds the connection") {
  int ends[2];
  CHECK(::pipe(ends) == 0);
  const pid_t owner = ::fork();
  if (owner == 0) {
    asio::io_context own(1);
    context place = make_host(own);
    running<handle> spawning(own.get_executor(), place.spawn());
    while (!spawning.ended()) own.run_one();
    running<process> starting(own.get_executor(), place.exec_stream(place.handles().front(), command("sleep 300")));
    while (!starting.ended()) own.run_one();
    const std::vector<pid_t> started = residents();
    const pid_t copy = ::fork();
    if (copy == 0) {
      ::close(ends[1]);
      ::sleep(5);
      ::_exit(0);
    }
    const pid_t pids[2] = {started.front(), copy};
    if (::write(ends[1], pids, sizeof pids) < 0) ::_exit(1);
    ::kill(::getpid(), SIGKILL);
  }
  ::close(ends[1]);
  pid_t pids[2] = {0, 0};
  CHECK(::read(ends[0], pids, sizeof pids) == sizeof pids);
  ::close(ends[0]);
  int status = 0;
  CHECK(::waitpid(owner, &status, 0) == owner);
  const std::vector<pid_t> started(1, pids[0]);
  const bool gone = co_await all_gone(started);
  CHECK(gone);
  CHECK(is_alive(pids[1]));
  ::kill(pids[1], SIGKILL);
}

}  // namespace
}  // namespace berth::test
