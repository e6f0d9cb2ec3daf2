/// Why commands of a container were lost, told as what it is.
#include "docker/places.hpp"
#include "support/running.hpp"
#include "support/waiting.hpp"

#include <doctest/doctest.h>

using namespace berth;
using namespace berth::test;
using namespace std::chrono_literals;

namespace {

/// One place and the Engine beside it.
struct world {
  world(asio::io_context& io, context c, handle h, std::shared_ptr<docker_engine> e, std::string i)
      : executor(io.get_executor()), place(std::move(c)), where(std::move(h)), engine(std::move(e)), id(std::move(i)) {}

  task<void> ask(std::string method, std::string what) {
    auto asking = engine->ask(std::move(method), "/containers/" + id + what);
    co_await std::move(asking);
  }
  running<exec_result> exec(command what) { return running(executor, place.exec(where, std::move(what))); }

  asio::any_io_executor executor;
  context place;
  handle where;
  std::shared_ptr<docker_engine> engine;
  std::string id;
};

task<std::unique_ptr<world>> make_world(asio::io_context& io, std::vector<daemon_address> daemon,
                                        docker_context_options options, bool try_socket) {
  context place = make_place(io, std::move(options), try_socket);
  handle where = co_await place.spawn();
  auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  const auto all = co_await containers_of_test(io, daemon);
  REQUIRE(all.size() == 1);
  co_return std::make_unique<world>(io, std::move(place), std::move(where), std::move(engine), all.front());
}

/// Its first process has begun: it writes a file.
task<void> until_begun(world& here) {
  bool there = false;
  for (int i = 0; i < 300 && !there; ++i) {
    const exec_result seen = co_await here.place.exec(here.where, command("test -e begun"));
    there = seen.status.ok();
  }
  CHECK(there);
}

bool has(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

task<exit_status> end_by(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket, std::string method,
                         std::string what) {
  const auto here = co_await make_world(io, daemon, small_container(daemon.front().url), try_socket);
  auto command_running = here->exec(command("touch begun; sleep 1000").timeout(command_takes));
  co_await until_begun(*here);
  co_await here->ask(std::move(method), std::move(what));
  const exec_result result = co_await command_running.result();
  const exec_result after = co_await here->place.exec(here->where, command("true"));
  CHECK(after.status.reason() == end_reason::lost);
  CHECK(after.status.message() == result.status.message());
  co_await here->place.destroy(here->where);
  const auto left = co_await containers_of_test(io, daemon);
  CHECK(left.empty());
  co_return result.status;
}

task<void> try_kill(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  const exit_status status = co_await end_by(io, daemon, try_socket, "POST", "/kill");
  CHECK(status.reason() == end_reason::lost);
  CHECK_MESSAGE(has(status.message(), "ended through its daemon (signal 9)"), status.message());
}

task<void> try_stop(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  const exit_status status = co_await end_by(io, daemon, try_socket, "POST", "/stop?t=10");
  CHECK(status.reason() == end_reason::lost);
  CHECK_MESSAGE(has(status.message(), "ended through its daemon (signal 15)"), status.message());
}

task<void> try_remove(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  const exit_status status = co_await end_by(io, daemon, try_socket, "DELETE", "?force=1");
  CHECK(status.reason() == end_reason::lost);
  CHECK_MESSAGE(has(status.message(), "ended through its daemon"), status.message());
}

docker_context_options with_memory(const std::string& host) {
  docker_context_options options = small_container(host);
  options.limits.memory_mb = 32;
  return options;
}

/// Fills memory until it is ended.
constexpr const char* hog = "exec tail /dev/zero";

task<void> try_oom(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  const auto here = co_await make_world(io, daemon, with_memory(daemon.front().url), try_socket);
  const exec_result died = co_await here->place.exec(here->where, command(hog).timeout(command_takes));
  CHECK(died.status.reason() == end_reason::oom_killed);
  CHECK(died.status.limit() == limit_kind::memory);
  CHECK(died.status.code() == 137);
  const exec_result child = co_await here->place.exec(here->where, command("(exec tail /dev/zero); exit $?"));
  CHECK(child.status.reason() == end_reason::exited);
  CHECK(child.status.code() == 137);
  CHECK(child.status.limit() == limit_kind::memory);
  // Neither of them is the memory's: nothing was ended since they began.
  const exec_result killed = co_await here->place.exec(here->where, command("kill -9 $$"));
  CHECK(killed.status.reason() == end_reason::signaled);
  CHECK(killed.status.limit() == limit_kind::none);
  const exec_result fine = co_await here->place.exec(here->where, command("echo still here"));
  CHECK(fine.std_out == "still here\n");
  co_await here->place.destroy(here->where);
}

/// The resident is made the first victim.
task<void> try_oom_of_all(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  const auto here = co_await make_world(io, daemon, with_memory(daemon.front().url), try_socket);
  const exec_result made = co_await here->place.exec(here->where, command("echo 1000 > /proc/1/oom_score_adj"));
  REQUIRE(made.status.ok());
  const char* const hogs = "sleep 0.3; echo 0 > /proc/$$/oom_score_adj; for i in 1 2 3; do tail /dev/zero & done; wait";
  const exec_result died = co_await here->place.exec(here->where, command(hogs).timeout(command_takes));
  CHECK(died.status.reason() == end_reason::oom_killed);
  CHECK_MESSAGE(has(died.status.message(), "the container ran out of memory"), died.status.message());
  co_await here->place.destroy(here->where);
}

task<void> try_pause(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  std::vector<std::string> log;
  docker_context_options options = small_container(daemon.front().url);
  options.log = [&log](log_level, std::string_view line) { log.emplace_back(line); };
  const auto here = co_await make_world(io, daemon, options, try_socket);
  auto with_deadline = here->exec(command("touch begun; sleep 1000").timeout(4s));
  auto without = here->exec(command("cat; echo done").input("hello\n").timeout(command_takes));
  co_await until_begun(*here);
  co_await here->ask("POST", "/pause");
  auto begun_later = here->exec(command("true").timeout(2s));
  auto waits = here->exec(command("echo after").timeout(command_takes));
  const exec_result late = co_await begun_later.result();
  CHECK(late.status.reason() == end_reason::timed_out);
  const exec_result result = co_await with_deadline.result();
  CHECK(result.status.reason() == end_reason::lost);
  CHECK_MESSAGE(has(result.status.message(), "the container is paused"), result.status.message());
  co_await here->ask("POST", "/unpause");
  const exec_result after = co_await waits.result();
  CHECK(after.std_out == "after\n");
  const exec_result whole = co_await without.result();
  CHECK(whole.std_out == "hello\ndone\n");
  bool is_logged = false;
  for (const std::string& line : log) is_logged |= has(line, "the container is paused; its commands wait");
  CHECK(is_logged);
  // The deadline's kill came through once the container ran again.
  const exec_result rest = co_await here->place.exec(here->where, command("sleep 3; ps | grep -c '[s]leep 1000'"));
  CHECK(rest.std_out == "0\n");
  co_await here->place.destroy(here->where);
}

/// A paused container can be destroyed.
task<void> try_destroy_paused(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket) {
  const auto here = co_await make_world(io, daemon, small_container(daemon.front().url), try_socket);
  co_await here->ask("POST", "/pause");
  co_await here->place.destroy(here->where);
  const auto left = co_await containers_of_test(io, daemon);
  CHECK(left.empty());
}

}  // namespace

DOCKER_TEST("loss: docker kill, seen over a handed socket") { co_await try_kill(io, daemon, true); }
DOCKER_TEST("loss: docker kill, seen over frames") { co_await try_kill(io, daemon, false); }
DOCKER_TEST("loss: docker stop, seen over a handed socket") { co_await try_stop(io, daemon, true); }
DOCKER_TEST("loss: docker stop, seen over frames") { co_await try_stop(io, daemon, false); }
DOCKER_TEST("loss: docker rm -f, seen over a handed socket") { co_await try_remove(io, daemon, true); }
DOCKER_TEST("loss: docker rm -f, seen over frames") { co_await try_remove(io, daemon, false); }
DOCKER_TEST("loss: a command that the kernel ends for want of memory, its pipes handed over") {
  co_await try_oom(io, daemon, true);
}
DOCKER_TEST("loss: a command that the kernel ends for want of memory, over frames") {
  co_await try_oom(io, daemon, false);
}
DOCKER_TEST("loss: a container that the kernel ends for want of memory, seen over a handed socket") {
  co_await try_oom_of_all(io, daemon, true);
}
DOCKER_TEST("loss: a container that the kernel ends for want of memory, seen over frames") {
  co_await try_oom_of_all(io, daemon, false);
}
DOCKER_TEST("loss: a paused container, seen over a handed socket") { co_await try_pause(io, daemon, true); }
DOCKER_TEST("loss: a paused container, seen over frames") { co_await try_pause(io, daemon, false); }
DOCKER_TEST("loss: a paused container is destroyed, seen over a handed socket") {
  co_await try_destroy_paused(io, daemon, true);
}
DOCKER_TEST("loss: a paused container is destroyed, seen over frames") {
  co_await try_destroy_paused(io, daemon, false);
}

DOCKER_TEST("lease: an owner that is silent, and lives, keeps its container") {
  docker_context_options options = small_container(daemon.front().url);
  options.lease = 2s;
  context place = make_place(io, options, false);
  const handle where = co_await place.spawn();
  co_await pause_for(5s);
  const exec_result result = co_await place.exec(where, command("echo here"));
  CHECK(result.std_out == "here\n");
  co_await place.destroy(where);
}
