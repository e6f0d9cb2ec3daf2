/// A command of one sandbox that swaps directories for links while another sandbox is mounted.
#include "host/host_world.hpp"
#include "support/skipping.hpp"
#include "support/temp_dir.hpp"

#include <berth/background.hpp>

#include <filesystem>
#include <string>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

/// Swaps its first argument with a link to its second, again and again, for at most a minute; the third says how long each stays.
constexpr const char* swapper = R"(
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
name, target = sys.argv[1].encode(), sys.argv[2]
os.symlink(target, '.x')
print('ready', flush=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    libc.renameat2(-100, name, -100, b'.x', 2)
    time.sleep(float(sys.argv[3]))
)";

// Without the check of what is mounted both escape well before.
constexpr int rounds_of_handles = 600;
constexpr int rounds_of_reopening = 60;

void write_outside(const temp_dir& outside) {
  fs::create_directory(outside / "hooks");
  write_whole_file(outside / "config", "theirs");
}

bool untouched(const temp_dir& outside) {
  std::size_t count = 0;
  for (const auto& each : fs::recursive_directory_iterator(outside.path())) count += each.exists() ? 1 : 0;
  return count == 2 && read_whole_file(outside / "config") == "theirs";
}

task<background> start_swapper(context place, handle where, std::string name, std::string target) {
  command what = argv("python3", "swap.py", std::move(name), std::move(target), "0.001");
  background running = co_await place.exec_background(where, std::move(what));
  co_await running.wait_for_output("ready", 10s);
  co_return running;
}

bool can_race() {
  if (!has_bwrap()) return false;
  if (fs::exists("/usr/bin/python3")) return true;
  skip("no python3");
  return false;
}

BERTH_ASYNC_TEST(race_of_handles,
                 "isolation race: a directory below another sandbox's root, swapped for a link outside", 60s) {
  if (!can_race()) co_return;
  const temp_dir at;
  const temp_dir outside;
  write_outside(outside);
  fs::create_directories(at / "sub");
  write_whole_file(at / "swap.py", swapper);
  isolation_settings settings;
  settings.tmp(tmp_kind::host);
  const temp_dir home;
  fs::create_directory(home / ".git");
  isolation_settings with_sub = settings;
  with_sub.writable_roots({at / "sub"});
  context place = make_process_context(io, isolated(home.path().string(), with_sub));
  const handle where = co_await place.spawn();
  context attacking = make_process_context(io, isolated(at.path().string(), settings));
  const handle attacker = co_await attacking.spawn();
  const background running = co_await start_swapper(attacking, attacker, "sub", outside.path().string());
  const std::string text = "for k in 1 2 3 4 5 6 7 8; do echo x >" + (at / "sub/ESCAPE") + "; done";
  int ran = 0;
  for (int i = 0; i < rounds_of_handles && untouched(outside); ++i) {
    // Another file to protect: each exec opens a sandbox anew.
    fs::remove(home / ".git/config");
    write_whole_file(home / ".git/config", std::to_string(i));
    const exec_result result = co_await place.exec(where, command(text));
    if (result.status.reason() == end_reason::exited) ++ran;
  }
  CHECK(untouched(outside));
  if (ran == 0) skip("of " + std::to_string(rounds_of_handles) + " commands none ran: the race was not tried");
  co_await attacking.destroy(attacker);
  co_await place.destroy(where);
}

BERTH_ASYNC_TEST(race_of_reopening, "isolation race: a protected directory, swapped while a sandbox is opened again",
                 60s) {
  if (!can_race()) co_return;
  const temp_dir at;
  const temp_dir outside;
  write_outside(outside);
  write_whole_file(at / "swap.py", swapper);
  isolation_settings settings;
  settings.tmp(tmp_kind::host);
  context place = make_process_context(io, isolated(at.path().string(), settings));
  const handle where = co_await place.spawn();
  exec_result result = co_await place.exec(where, command("true"));
  CHECK(result.ok());
  // What runs does not see it protected yet.
  background running = co_await place.exec_background(
      where, command("mkdir -p .git/hooks; echo mine >.git/config; exec python3 swap.py .git " +
                     outside.path().string() + " 0.0003"));
  co_await running.wait_for_output("ready", 10s);
  int ran = 0;
  for (int i = 0; i < rounds_of_reopening && untouched(outside); ++i) {
    result = co_await place.exec(where, command("for k in 1 2 3 4 5 6 7 8; do echo x >.git/ESCAPE; done"));
    if (result.status.reason() == end_reason::exited) ++ran;
  }
  CHECK(untouched(outside));
  if (ran == 0) skip("of " + std::to_string(rounds_of_reopening) + " commands none ran: the race was not tried");
  co_await place.destroy(where);
}

}  // namespace
}  // namespace berth::test
