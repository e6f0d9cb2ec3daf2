/// A program that uses the library, for tests that end it: `owner run|fork|isolated COUNT` starts COUNT commands in one place, says
/// "ready" once all run, and waits. With `fork` it has a copy of itself by then, and says "copy PID" before. With `isolated` it
/// has files in the private /tmp instead of commands. `owner docker COUNT` has containers instead, with a command in each, at the daemon of
/// BERTH_TEST_DOCKER.
#include <berth/docker_context.hpp>
#include <berth/process_context.hpp>

#include "support/mixed_commands.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

using namespace berth;

void fork_without_exec() {
  const pid_t copy = fork();
  if (copy == 0) {
    alarm(300);
    while (true) pause();
  }
  std::printf("copy %d\n", static_cast<int>(copy));
}

task<void> stay(asio::io_context& io) {
  std::printf("ready\n");
  std::fflush(stdout);
  asio::steady_timer timer(io, std::chrono::minutes(5));
  co_await timer.async_wait(asio::use_awaitable);
}

task<void> own_isolated(asio::io_context& io) {
  process_context_options options;
  options.isolation.emplace();
  context place = make_process_context(io, options);
  const handle where = co_await place.spawn();
  co_await place.write_file(where, "/tmp/a/b/c", "left");
  const auto closed =
      co_await place.exec(where, command("sleep 300 & mkdir /tmp/closed; touch /tmp/closed/f; chmod 0 /tmp/closed"));
  if (!closed.ok()) std::printf("a command ended\n");
  co_await stay(io);
}

task<void> own(asio::io_context& io, bool forks, int count) {
  context place = make_process_context(io);
  const handle where = co_await place.spawn();
  std::vector<process> commands;
  for (int i = 0; i < count; ++i) commands.push_back(co_await place.exec_stream(where, test::mixed_command(i)));
  for (process& each : commands) {
    const auto line = co_await each.next();
    if (!line) std::printf("a command ended\n");
  }
  if (forks) fork_without_exec();
  co_await stay(io);
}

task<void> own_containers(asio::io_context& io, int count) {
  docker_context_options options;
  options.image = "test/busybox:1";
  options.network = "none";
  const char* const address = std::getenv("BERTH_TEST_DOCKER");
  options.host = address != nullptr ? address : "";
  context place = make_docker_context(io, options);
  std::vector<process> commands;
  for (int i = 0; i < count; ++i) {
    const handle where = co_await place.spawn();
    commands.push_back(co_await place.exec_stream(where, command("echo on; setsid sleep 300 & sleep 300")));
    const auto line = co_await commands.back().next();
    if (!line) std::printf("a command ended\n");
  }
  co_await stay(io);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "run";
  asio::io_context io(1);
  const auto on_end = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  };
  if (verb == "isolated")
    asio::co_spawn(io, own_isolated(io), on_end);
  else if (verb == "docker")
    asio::co_spawn(io, own_containers(io, argc > 2 ? std::atoi(argv[2]) : 10), on_end);
  else
    asio::co_spawn(io, own(io, verb == "fork", argc > 2 ? std::atoi(argv[2]) : 20), on_end);
  io.run();
}
