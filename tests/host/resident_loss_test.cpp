/// The resident of this host ends, or is hindered, from outside.
#include "host/host_world.hpp"
#include "host/resident_launch.hpp"
#include "support/cgroups.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

namespace berth::test {
namespace {

ASYNC_TEST("host: a resident that is killed loses its commands, is swept, and the next command runs") {
  context place = make_host(io);
  const handle where = co_await place.spawn();
  const std::string orphans = "env -i setsid sleep 300 & (setsid sleep 300 &) ; echo started; sleep 300";
  process running = co_await place.exec_stream(where, command(orphans));
  auto piece = co_await running.next();
  CHECK(piece->bytes() == "started\n");
  const auto tag = tag_of(static_cast<pid_t>(running.pid()));
  std::vector<pid_t> tagged;
  const auto all_run = [&tagged, tag] {
    tagged.clear();
    for (const process_info& each : all_processes()) {
      if (each.name == "sleep" && tag_of(each.pid) == tag) tagged.push_back(each.pid);
    }
    return tagged.size() == 3;
  };
  const bool run = co_await becomes_true(all_run);
  CHECK(run);
  const std::vector<pid_t> before = residents();
  CHECK(before.size() == 1);
  ::kill(before.front(), SIGKILL);
  const exit_status status = co_await running.wait();
  CHECK(status.reason() == end_reason::lost);
  CHECK(status.code() == 125);
  CHECK(status.message().find("killed by signal 9") != std::string::npos);
  const bool gone = co_await all_gone(tagged);
  CHECK(gone);
  const exec_result again = co_await place.exec(where, command("echo again"));
  CHECK(again.std_out == "again\n");
  co_await place.destroy(where);
}

ASYNC_TEST("host: a resident that is killed leaves no cgroup, nor what has changed its tag in one") {
  if (!has_whole_limits("host: a resident that is killed leaves no cgroup")) co_return;
  context place = make_host(io);
  const handle where = co_await place.spawn();
  // Lowered, the limit is no tag any more.
  const std::string stray = "prlimit --locks=5:5 setsid sleep 300 >/dev/null & echo $!; exec sleep 300";
  process running = co_await place.exec_stream(where, command(stray).limits(resource_limits().processes(9)));
  auto piece = co_await running.next();
  const pid_t left = static_cast<pid_t>(std::stoi(piece->bytes()));
  const std::string mine = "berth-" + std::to_string(residents().front()) + "-";
  CHECK(cgroups_with(mine).size() == 1);
  ::kill(residents().front(), SIGKILL);
  const exit_status status = co_await running.wait();
  CHECK(status.reason() == end_reason::lost);
  co_await place.destroy(where);
  CHECK(cgroups_with(mine).empty());
  CHECK_FALSE(is_alive(left));
}

ASYNC_TEST("host: the end of a context leaves no cgroup, while its loop does not run") {
  if (!has_whole_limits("host: the end of a context leaves no cgroup")) co_return;
  auto place = std::make_unique<context>(make_host(io));
  const handle where = co_await place->spawn();
  const auto limits = resource_limits().memory(100 << 20);
  process running = co_await place->exec_stream(where, command("sleep 300 & echo on; sleep 300").limits(limits));
  auto piece = co_await running.next();
  CHECK(piece->bytes() == "on\n");
  const std::string mine = "berth-" + std::to_string(residents().front()) + "-";
  CHECK(cgroups_with(mine).size() == 1);
  place.reset();
  CHECK(cgroups_with(mine).empty());
}

ASYNC_TEST_FOR("host: a resident that was stopped is continued", 20s) {
  context place = make_host(io);
  const handle where = co_await place.spawn();
  ::kill(residents().front(), SIGSTOP);
  const auto began = std::chrono::steady_clock::now();
  const exec_result result = co_await place.exec(where, command("echo on"));
  CHECK(result.std_out == "on\n");
  CHECK(std::chrono::steady_clock::now() - began > 1s);
  co_await place.destroy(where);
}

ASYNC_TEST("host: a context that goes while its loop does not run ends everything all the same") {
  auto place = std::make_unique<context>(make_host(io));
  const handle where = co_await place->spawn();
  process running = co_await place->exec_stream(where, command("setsid sleep 300 & echo $!; sleep 300"));
  auto piece = co_await running.next();
  const pid_t orphan = static_cast<pid_t>(std::stoi(piece->bytes()));
  const pid_t first = static_cast<pid_t>(running.pid());
  CHECK(is_alive(orphan));
  place.reset();
  CHECK_FALSE(is_alive(orphan));
  CHECK_FALSE(is_alive(first));
  const exit_status status = co_await running.wait();
  CHECK(status.reason() == end_reason::lost);
}

TEST_CASE("host: the io_context may go right after the context, with work under way") {
  auto io = std::make_unique<asio::io_context>(1);
  auto place = std::make_unique<context>(make_host(*io));
  auto spawning = std::make_unique<running<handle>>(io->get_executor(), place->spawn());
  while (!spawning->ended()) io->run_one();
  process started;
  {
    running<process> starting(io->get_executor(), place->exec_stream(place->handles().front(), command("sleep 300")));
    while (!starting.ended()) io->run_one();
  }
  spawning.reset();
  place.reset();
  io.reset();
  CHECK(residents().empty());
}

ASYNC_TEST("host: a copy of this process that was forked leaves the place alone") {
  context place = make_host(io);
  const handle where = co_await place.spawn();
  process running = co_await place.exec_stream(where, argv("cat").input_stream());
  const pid_t copy = ::fork();
  if (copy == 0) {
    running = process();
    place = context(io.get_executor(), nullptr);
    ::_exit(0);
  }
  const auto ended = [copy] { return !is_alive(copy); };
  const bool over = co_await becomes_true(ended);
  CHECK(over);
  int status = 0;
  CHECK(::waitpid(copy, &status, 0) == copy);
  const exec_result result = co_await place.exec(where, command("echo here"));
  CHECK(result.std_out == "here\n");
  (void)co_await running.kill();
  co_await place.destroy(where);
}

task<void> run_from_file(asio::io_context& io) {
  context place = make_host(io);
  const handle where = co_await place.spawn();
  const exec_result result = co_await place.exec(where, command("echo file"));
  CHECK(result.std_out == "file\n");
  CHECK(resident_image().made_of() == memory_image::kind::file);
  co_await place.destroy(where);
}

TEST_CASE("host: where memfds cannot be executed a temporary file is, and nothing of it is seen") {
  resident_image().fall_back();
  resident_image().fd();  // made once for the process, before anything is counted
  run_async(run_from_file, 10s);
}

}  // namespace
}  // namespace berth::test
