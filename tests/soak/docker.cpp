/// Many commands through one resident in a container: `soak_docker [COMMANDS]`, 10 000 by default, 64 at a time, once with their pipes
/// handed over and once over frames. Each gets its own output to the byte; what the resident holds does not grow; nothing dead is left.
#define DOCTEST_CONFIG_IMPLEMENT
#include "core/task_group.hpp"
#include "docker/container.hpp"
#include "docker/places.hpp"

#include <asio/this_coro.hpp>

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace berth;
using namespace berth::test;

namespace {

constexpr int at_once = 64;
constexpr int warm_up_share = 5;     // the first fifth
constexpr long growth_in_kib = 512;  // what a heap may find on its way
constexpr std::ptrdiff_t growth_in_fds = 4;

struct held {
  long kib = 0;
  std::ptrdiff_t fds = 0;
};

struct soak {
  soak(context p, handle w, int c) : place(std::move(p)), where(std::move(w)), commands(c) {}

  context place;
  handle where;
  int commands;
  int next = 0;
  int wrong = 0;
};

held held_by(long pid) {
  const std::string proc = "/proc/" + std::to_string(pid);
  held found;
  std::ifstream status(proc + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) found.kib = std::atol(line.c_str() + 6);
  }
  const std::filesystem::directory_iterator fds(proc + "/fd");
  found.fds = std::distance(begin(fds), end(fds));
  return found;
}

/// Output of a length of its own; every seventh leaves an orphan behind.
std::string text_of(int n) {
  const std::string number = std::to_string(n);
  const std::string orphan = n % 7 == 0 ? "(sleep 0.05 >/dev/null 2>&1 &); " : "";
  return orphan + "echo begin " + number + "; head -c " + std::to_string(n * 37 % 9000) +
         " /dev/zero | tr '\\0' x; echo err " + number + " >&2; cat; exit " + std::to_string(n % 100);
}

task<void> run_one(soak& all, int n) {
  const std::string number = std::to_string(n);
  const exec_result result = co_await all.place.exec(all.where, command(text_of(n)).input("in " + number));
  const std::string expected =
      "begin " + number + "\n" + std::string(static_cast<std::size_t>(n * 37 % 9000), 'x') + "in " + number;
  const bool is_right = result.std_out == expected && result.std_err == "err " + number + "\n" &&
                        result.status.reason() == end_reason::exited && result.status.code() == n % 100;
  if (is_right) co_return;
  ++all.wrong;
  std::printf("FAILED: command %d: %s, %zu bytes for %zu\n", n, describe(result.status).c_str(), result.std_out.size(),
              expected.size());
}

task<void> work(soak& all, int until) {
  while (all.next < until) co_await run_one(all, all.next++);
}

task<void> work_together(soak& all, int until) {
  task_group group(co_await asio::this_coro::executor);
  for (int i = 0; i < at_once; ++i) group.spawn(work(all, until));
  co_await group.join();
}

task<long> pid_of_resident(asio::io_context& io, std::vector<daemon_address> daemon) {
  const auto all = co_await containers_of_test(io, daemon);
  const auto engine = co_await docker_engine::connect(io.get_executor(), daemon);
  const container box(engine, all.at(0));
  const auto seen = co_await box.inspect();
  co_return static_cast<long>(seen->at("State")["Pid"].if_int().value_or(0));
}

task<int> zombies_in(soak& all) {
  const char* const count = "sleep 1; grep -l '^State:.Z' /proc/[0-9]*/status | wc -l";
  const exec_result seen = co_await all.place.exec(all.where, command(count));
  co_return std::atoi(seen.std_out.c_str());
}

task<void> run_soak(asio::io_context& io, std::vector<daemon_address> daemon, bool try_socket, int commands,
                    bool& is_good) {
  context place = make_place(io, small_container(daemon.front().url), try_socket);
  const handle where = co_await place.spawn();
  soak all(place, where, commands);
  const long pid = co_await pid_of_resident(io, daemon);
  co_await work_together(all, commands / warm_up_share);
  const held before = held_by(pid);
  const held ours_before = held_by(::getpid());
  co_await work_together(all, commands);
  const int zombies = co_await zombies_in(all);
  const held after = held_by(pid);
  const held ours = held_by(::getpid());
  co_await place.destroy(where);
  const char* const how = try_socket ? "handed" : "frames";
  std::printf(
      "%s: %d commands, %d wrong; resident %ld to %ld KiB, %td to %td descriptors; owner %ld to %ld KiB, %td to %td; "
      "%d zombies\n",
      how, commands, all.wrong, before.kib, after.kib, before.fds, after.fds, ours_before.kib, ours.kib,
      ours_before.fds, ours.fds, zombies);
  const bool grows = after.kib > before.kib + growth_in_kib || after.fds > before.fds + growth_in_fds ||
                     ours.fds > ours_before.fds + growth_in_fds;
  is_good = all.wrong == 0 && zombies == 0 && !grows && before.kib > 0;
}

/// One way; whether it went well.
bool passes(const std::vector<daemon_address>& daemon, bool try_socket, int commands) {
  asio::io_context io;
  task_group group(io.get_executor());
  bool is_good = false;
  group.spawn(run_soak(io, daemon, try_socket, commands, is_good));
  io.run();
  try {
    group.throw_failure();
  } catch (const std::exception& failure) {
    std::printf("FAILED: %s\n", failure.what());
    return false;
  }
  return is_good;
}

}  // namespace

int main(int argc, char** argv) {
  int commands = 10000;
  for (int i = 1; i < argc; ++i) commands = std::atoi(argv[i]) > 0 ? std::atoi(argv[i]) : commands;
  int ran = 0;
  int failed = 0;
  for (const bool try_socket : {true, false}) {
    const auto daemon = real_daemon(try_socket ? "soak docker, handed" : "soak docker, frames");
    if (daemon.empty()) continue;
    ++ran;
    if (!passes(daemon, try_socket, commands)) ++failed;
  }
  std::printf("[doctest] test cases: %d | %d passed | %d failed | %d skipped\n", ran, ran - failed, failed, 2 - ran);
  return failed == 0 ? 0 : 1;
}
