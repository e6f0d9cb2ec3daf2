#include "context/fake_world.hpp"
#include "context/spill_file.hpp"
#include "support/temp_dir.hpp"

#include <sys/stat.h>

#include <doctest/doctest.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <future>

using namespace berth;
using namespace berth::test;

namespace {

/// Runs a command, cancels it after a while, and gives what became of it.
task<std::optional<exec_result>> exec_cancelled(std::shared_ptr<fake_world> world, command what) {
  task_group group(world->place->get_executor());
  auto result = no_outcome<exec_result>();
  group.spawn(leave(world->exec(std::move(what)), result));
  co_await pause_for(10ms);
  group.cancel();
  co_await group.join();
  co_return *result;
}

}  // namespace

ASYNC_TEST("exec: collects both streams, the status and what was used") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").err("b").out("c").exit(3).end_streams(); });
  const auto result = co_await world->exec("x");
  CHECK(result.status == exit_status::exited(3));
  CHECK(result.std_out == "ac");
  CHECK(result.std_err == "b");
  CHECK(result.out.seen() == 2);
  CHECK(!result.out.truncated());
  CHECK(result.usage.max_rss_bytes == 4096);
  CHECK(result.wall_time.count() > 0);
  CHECK(!result.streams_open);
  CHECK(world->run().destroyed);
}

ASYNC_TEST("exec: keeps the beginning and the end within the limit") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("01234").out("56789").err("ab").exit().end_streams(); });
  const auto result = co_await world->exec(command("x").output_limit(4).output_split(0.25));
  CHECK(result.std_out == "0789");
  CHECK(result.out.seen() == 10);
  CHECK(result.out.head() == 1);
  CHECK(result.out_text() == "0\n[... 6 bytes left out ...]\n789");
  CHECK(result.std_err == "ab");
}

ASYNC_TEST("exec: a start that failed and a lost place are results") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.exit(exit_status::start_failed(126, "exec: denied")).end_streams(); });
  const auto failed = co_await world->exec("x");
  CHECK(failed.status.reason() == end_reason::start_failed);
  world->script([](fake_run& run) { run.out("half").lose("reset"); });
  const auto lost = co_await world->exec("x");
  CHECK(lost.status == exit_status::lost("reset"));
  CHECK(lost.std_out == "half");
  world->script([](fake_run&) { throw error(errc::lost, "no answer"); });
  const auto unstarted = co_await world->exec("x");
  CHECK(unstarted.status == exit_status::lost("no answer"));
}

ASYNC_TEST("exec: other errors of a start are thrown") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run&) { throw error(errc::resource_exhausted, "no descriptors"); });
  const auto code = co_await code_of(world->exec("x"));
  CHECK(code == errc::resource_exhausted);
}

ASYNC_TEST("exec: a command that cannot be is refused before anything starts") {
  const auto world = co_await fake_world::make(io);
  const auto time = co_await code_of(world->exec(command("x").timeout(0ms)));
  CHECK(time == errc::invalid_argument);
  const auto stream = co_await code_of(world->exec(command("x").input_stream()));
  CHECK(stream == errc::invalid_argument);
  CHECK(world->backend->runs.empty());
}

ASYNC_TEST("exec: says when something still holds the streams, and who survived") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").exit(); });
  const auto open = co_await world->exec("x");
  CHECK(open.streams_open);
  CHECK(open.ok());
  CHECK(open.wall_time < 240ms);
  world->script([](fake_run& run) {
    run.on_kill = [](fake_run& killed, std::chrono::milliseconds) {
      std::vector<survivor> left(1);
      left[0].pid = 7;
      killed.exit(exit_status::signaled(SIGTERM)).end_streams().end_tree(std::move(left));
    };
  });
  const auto timed_out = co_await world->exec(command("x").timeout(10ms));
  CHECK(timed_out.status.code() == 124);
  REQUIRE(timed_out.survivors.size() == 1);
  CHECK(timed_out.survivors[0].pid == 7);
}

ASYNC_TEST("exec: cancelled, it ends the tree and returns what came") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) {
    run.out("before ");
    run.on_kill = [](fake_run& killed, std::chrono::milliseconds grace) {
      killed.out("and after");
      fake_run::die(killed, grace);
    };
  });
  const auto result = co_await exec_cancelled(world, command("x").grace(300ms));
  REQUIRE(result);
  CHECK(result->status == exit_status(end_reason::cancelled, 143, SIGTERM));
  CHECK(result->std_out == "before and after");
  CHECK(world->run().kills == std::vector<std::chrono::milliseconds>{300ms});
  CHECK(world->run().destroyed);
}

ASYNC_TEST("exec: the caller's next await after a cancelled one throws") {
  const auto world = co_await fake_world::make(io);
  struct caller {
    static task<void> run(std::shared_ptr<fake_world> world, outcome<exec_result> result, std::shared_ptr<bool> after) {
      result->emplace(co_await world->exec("x"));
      co_await pause_for(1ms);
      *after = true;
    }
  };
  task_group group(io.get_executor());
  auto result = no_outcome<exec_result>();
  const auto after = std::make_shared<bool>(false);
  group.spawn(caller::run(world, result, after));
  co_await pause_for(5ms);
  group.cancel();
  co_await group.join();
  REQUIRE(*result);
  CHECK((*result)->status.reason() == end_reason::cancelled);
  CHECK(!*after);
}

ASYNC_TEST("exec: cancelled during the drain of a command that ended by itself, it keeps the status") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("a").exit(5); });
  const auto began = std::chrono::steady_clock::now();
  const auto result = co_await exec_cancelled(world, "x");
  REQUIRE(result);
  CHECK(std::chrono::steady_clock::now() - began < 240ms);
  CHECK(result->status == exit_status::exited(5));
  CHECK(result->streams_open);
  CHECK(world->run().kills.empty());
}

ASYNC_TEST("exec: cancelled while it starts, it returns a result too") {
  const auto world = co_await fake_world::make(io);
  world->backend->hold_start.emplace(io.get_executor());
  const auto result = co_await exec_cancelled(world, "x");
  REQUIRE(result);
  CHECK(result->status.reason() == end_reason::cancelled);
  CHECK(result->status.code() == 143);
  CHECK(world->backend->runs.empty());
}

ASYNC_TEST("exec: cancelled while its input is fed, it leaves nothing") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.stdin_room = 1; });
  const auto result = co_await exec_cancelled(world, command("x").input("hello"));
  REQUIRE(result);
  CHECK(result->status.reason() == end_reason::cancelled);
  co_await pause_for(5ms);
  CHECK(world->run().destroyed);
}

ASYNC_TEST("exec: dropped with its io_context, it drops its process") {
  asio::io_context other(1);
  const auto world = std::make_shared<fake_world>(other);
  {
    task_group group(other.get_executor());
    struct caller {
      static task<void> run(std::shared_ptr<fake_world> world) {
        const auto at = co_await world->place->spawn();
        (void)co_await world->place->exec(at, command("x").input(std::string(1 << 20, 'x')));
      }
    };
    group.spawn(caller::run(world));
    other.poll();
    CHECK(world->backend->runs.size() == 1);
  }
  other.poll();
  CHECK(world->run().kills.size() == 1);
  co_return;
}

ASYNC_TEST("spill: all output goes to files, whatever is kept") {
  const auto world = co_await fake_world::make(io);
  const temp_dir files;
  std::string all;
  for (int i = 0; i < 20; ++i) all += std::string(50000, static_cast<char>('a' + i));
  world->script([&all](fake_run& run) {
    for (std::size_t at = 0; at < all.size(); at += 50000) run.out(all.substr(at, 50000));
    run.err("e").exit().end_streams();
  });
  write_whole_file(files / "log", "old");
  const auto result = co_await world->exec(command("x").output_limit(10).spill(files / "log"));
  CHECK(result.std_out.size() == 10);
  CHECK(result.out_file == files / "log");
  CHECK(result.err_file == files / "log.stderr");
  CHECK(result.spill_error.empty());
  CHECK(read_whole_file(result.out_file) == all);
  CHECK(read_whole_file(result.err_file) == "e");
}

ASYNC_TEST("spill: a cancelled command leaves what came in its file") {
  const auto world = co_await fake_world::make(io);
  const temp_dir files;
  world->script([](fake_run& run) { run.out(std::string(300000, 'x')).out("y"); });
  task_group group(io.get_executor());
  auto result = no_outcome<exec_result>();
  group.spawn(leave(world->exec(command("x").spill(files / "log")), result));
  const std::function<bool()> all_read = [world] {
    return !world->backend->runs.empty() && world->run().unread() == 0;
  };
  const bool read = co_await becomes_true(all_read);
  CHECK(read);
  group.cancel();
  co_await group.join();
  REQUIRE(*result);
  CHECK((*result)->status.reason() == end_reason::cancelled);
  CHECK(read_whole_file((*result)->out_file).size() == 300001);
}

ASYNC_TEST("spill: a write that was cancelled before it began can be made again") {
  const temp_dir files;
  const auto pool = std::make_shared<blocking_pool>(1);
  const auto file = co_await spill_file::open(pool, files / "log");
  std::promise<void> let_go;
  const auto busy = [&let_go] { let_go.get_future().wait(); };
  task_group blocker(io.get_executor());
  blocker.spawn(pool->run(busy));
  CHECK(file->add(std::string(300000, 'x')));
  task_group group(io.get_executor());
  group.spawn(file->flush());
  group.cancel();
  co_await group.join();
  let_go.set_value();
  co_await blocker.join();
  CHECK(read_whole_file(file->path()).empty());
  (void)file->add("y");
  co_await file->close();
  CHECK(file->failure().empty());
  CHECK(read_whole_file(file->path()).size() == 300001);
}

ASYNC_TEST("spill: merged streams have one file") {
  const auto world = co_await fake_world::make(io);
  const temp_dir files;
  world->script([](fake_run& run) { run.out("a").exit().end_streams(); });
  const auto result = co_await world->exec(command("x").merge_stderr().spill(files / "log"));
  CHECK(read_whole_file(result.out_file) == "a");
  CHECK(result.err_file.empty());
  CHECK(!std::filesystem::exists(files / "log.stderr"));
}

ASYNC_TEST("spill: a file that cannot be opened stops the command before it starts") {
  const auto world = co_await fake_world::make(io);
  const auto code = co_await code_of(world->exec(command("x").spill("/nowhere/at/all")));
  CHECK(code == std::errc::no_such_file_or_directory);
  CHECK(world->backend->runs.empty());
}

ASYNC_TEST("spill: a FIFO that nobody reads is refused, and does not hold the call") {
  const auto world = co_await fake_world::make(io);
  const temp_dir files;
  const std::string fifo = files / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto code = co_await code_of(world->exec(command("x").spill(fifo)));
  CHECK(code == std::errc::no_such_device_or_address);
  CHECK(world->backend->runs.empty());
}

ASYNC_TEST("spill: a full disk is told in the result, and the command goes on") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("lost").exit().end_streams(); });
  const auto result = co_await world->exec(command("x").merge_stderr().spill("/dev/full"));
  CHECK(result.ok());
  CHECK(result.std_out == "lost");
  CHECK(result.out_file.empty());
  CHECK(result.spill_error == "/dev/full: No space left on device");
}
