/// What a spill file may take the place of.
#include "context/fake_world.hpp"
#include "os/unique_fd.hpp"
#include "support/temp_dir.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

ASYNC_TEST("spill: a link is refused, whatever it leads to, and nothing runs") {
  const auto world = co_await fake_world::make(io);
  const temp_dir files;
  write_whole_file(files / "outside", "out");
  fs::create_symlink("outside", files / "log");
  fs::create_symlink("nothing", files / "dangling");
  fs::create_symlink("outside", files / "new.stderr");
  for (const char* const name : {"log", "dangling", "new"}) {
    CAPTURE(name);
    const auto code = co_await code_of(world->exec(command("x").spill(files / name)));
    CHECK(code == errc::invalid_argument);
  }
  CHECK(world->backend->runs.empty());
  CHECK(read_whole_file(files / "outside") == "out");
  CHECK(!fs::exists(files / "nothing"));
}

ASYNC_TEST("spill: the file is a new one, and another name of the old one keeps its bytes") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("new").exit().end_streams(); });
  const temp_dir files;
  write_whole_file(files / "log", "old");
  fs::create_hard_link(files / "log", files / "other");
  const auto result = co_await world->exec(command("x").merge_stderr().spill(files / "log"));
  CHECK(result.spill_error.empty());
  CHECK(read_whole_file(files / "log") == "new");
  CHECK(read_whole_file(files / "other") == "old");
  CHECK(std::distance(fs::directory_iterator(files.path()), {}) == 2);
}

ASYNC_TEST("spill: a device is written as it is, and a FIFO refused, whose reader could hold the command up") {
  const auto world = co_await fake_world::make(io);
  world->script([](fake_run& run) { run.out("text").exit().end_streams(); });
  const auto nowhere = co_await world->exec(command("x").merge_stderr().spill("/dev/null"));
  CHECK(nowhere.spill_error.empty());
  CHECK(fs::is_character_file("/dev/null"));
  const temp_dir files;
  const std::string fifo = files / "fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const unique_fd reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto code = co_await code_of(world->exec(command("x").merge_stderr().spill(fifo)));
  CHECK(code == errc::invalid_argument);
  CHECK(fs::is_fifo(fifo));
}

}  // namespace
}  // namespace berth::test
