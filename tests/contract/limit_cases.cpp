/// Kernel limits of commands and handles.
#include "contract/contract.hpp"

#include "support/skipping.hpp"

#include <csignal>
#include <cstdio>
#include <sstream>

namespace berth::contract {
namespace {

/// Soft and hard value in a line of /proc/self/limits.
std::string values_of(const std::string& all, const std::string& name) {
  const auto at = all.find(name);
  if (at == all.npos) return "none";
  std::string soft, hard;
  std::istringstream(all.substr(at + name.size())) >> soft >> hard;
  return soft + " " + hard;
}

task<std::string> limits_seen(context& place, handle where, resource_limits limits) {
  const exec_result result = co_await place.exec(where, command("cat /proc/self/limits").limits(limits));
  CHECK(result.ok());
  co_return result.std_out;
}

task<void> all_are_set(context& place, handle where) {
  const auto limits =
      resource_limits().memory(200000000).cpu_time(30s).file_size(1 << 20).processes(5000).open_files(64);
  const std::string all = co_await limits_seen(place, where, limits);
  // What a cgroup holds is no limit of each process besides.
  const cgroup_place cgroups = whole_limits();
  CHECK((values_of(all, "Max data size") == "200000000 200000000") == !cgroups.memory);
  CHECK(values_of(all, "Max cpu time") == "30 31");
  CHECK(values_of(all, "Max file size") == "1048576 1048576");
  CHECK((values_of(all, "Max processes") == "5000 5000") == !cgroups.processes);
  CHECK(values_of(all, "Max open files") == "64 64");
  const exec_result shell = co_await place.exec(where, command("ulimit -n; ulimit -t").limits(limits));
  CHECK(shell.std_out == "64\n30\n");
}

task<void> niceness(context& place, handle where) {
  const char* shown = "cut -d ' ' -f 19 /proc/self/stat";
  const exec_result usual = co_await place.exec(where, shown);
  const auto limits = resource_limits().nice(5);
  const exec_result nicer = co_await place.exec(where, command(shown).limits(limits));
  CHECK(std::stoi(nicer.std_out) == std::min(19, std::stoi(usual.std_out) + 5));
}

task<void> processor_time(context& place, handle where) {
  const auto limits = resource_limits().cpu_time(1s);
  const exec_result loop = co_await place.exec(where, command("while :; do :; done").limits(limits));
  CHECK(loop.status.signal() == SIGXCPU);
  CHECK(loop.status.limit() == limit_kind::cpu_time);
  const command below = command("sh -c 'while :; do :; done'; exit $?").limits(limits);
  const exec_result shell = co_await place.exec(where, below);
  CHECK(shell.status.code() == 128 + SIGXCPU);
  CHECK(shell.status.limit() == limit_kind::cpu_time);
}

task<void> processor_time_of_the_deaf(context& place, handle where) {
  const auto limits = resource_limits().cpu_time(1s);
  const exec_result result = co_await place.exec(where, command("trap '' XCPU; while :; do :; done").limits(limits));
  CHECK(result.status.signal() == SIGKILL);
  CHECK(result.status.limit() == limit_kind::cpu_time);
}

task<void> file_size(context& place, handle where) {
  const auto limits = resource_limits().file_size(4096);
  const command direct = command("exec head -c 100000 /dev/zero >large").limits(limits);
  exec_result result = co_await place.exec(where, direct);
  CHECK(result.status.signal() == SIGXFSZ);
  CHECK(result.status.limit() == limit_kind::file_size);
  const command below = command("head -c 100000 /dev/zero >large; exit $?").limits(limits);
  result = co_await place.exec(where, below);
  CHECK(result.status.code() == 128 + SIGXFSZ);
  CHECK(result.status.limit() == limit_kind::file_size);
  result = co_await place.exec(where, "wc -c <large; head -c 100000 /dev/zero >large && wc -c <large");
  CHECK(result.std_out == "4096\n100000\n");
  CHECK(result.status.limit() == limit_kind::none);
}

task<void> memory(context& place, handle where) {
  const std::string text = "dd if=/dev/zero of=/dev/null bs=200M count=1";
  const exec_result enough = co_await place.exec(where, text);
  CHECK(enough.ok());
  const auto limits = resource_limits().memory(64 << 20);
  const exec_result refused = co_await place.exec(where, command(text).limits(limits));
  if (whole_limits().memory) {
    CHECK(refused.status.reason() == end_reason::oom_killed);
    CHECK(refused.status.limit() == limit_kind::memory);
    co_return;
  }
  CHECK(refused.status == exit_status::exited(1));
  CHECK(refused.std_err.find("memory") != std::string::npos);
}

// Each holds 24 MiB for as long as nobody reads.
constexpr const char* holder = "dd if=/dev/zero bs=24M count=1 2>/dev/null | sleep 300 & ";

bool has_whole_limits(const char* sentence) {
  const cgroup_place place = whole_limits();
  if (place.memory && place.processes) return true;
  std::printf("SKIPPED: %s: %s\n", sentence, place.why_not.c_str());
  return false;
}

task<void> memory_of_all(context& place, handle where) {
  if (!has_whole_limits("limits: memory of all processes")) co_return;
  const auto limits = resource_limits().memory(64 << 20);
  std::string text = holder;
  const command fits = command(text + "sleep 0.3; echo fits").limits(limits).end_leftovers().grace(0ms);
  const exec_result enough = co_await place.exec(where, fits);
  CHECK(enough.std_out == "fits\n");
  CHECK(enough.ok());
  for (int i = 0; i < 3; ++i) text += holder;
  const exec_result all = co_await place.exec(where, command(text + "wait").limits(limits));
  CHECK(all.status.reason() == end_reason::oom_killed);
  CHECK(all.status.code() == 128 + SIGKILL);
  CHECK(all.status.limit() == limit_kind::memory);
}

task<void> processes_of_all(context& place, handle where) {
  if (!has_whole_limits("limits: processes of a command")) co_return;
  const std::string text = "for i in 1 2 3 4 5; do sleep 300 >/dev/null 2>&1 & done; echo started";
  const auto limits = resource_limits().processes(4);
  const command bounded = command(text).limits(limits).end_leftovers().grace(0ms);
  const exec_result refused = co_await place.exec(where, bounded);
  CHECK(refused.std_out.empty());
  CHECK_FALSE(refused.ok());
  CHECK(refused.status.limit() == limit_kind::processes);
  const exec_result enough = co_await place.exec(where, command(text).end_leftovers().grace(0ms));
  CHECK(enough.std_out == "started\n");
  // Two at once have theirs each.
  const auto two = resource_limits().processes(2);
  auto first = start_exec(place, where, command("sleep 1; echo one").limits(two));
  auto second = start_exec(place, where, command("sleep 1; echo two").limits(two));
  const exec_result one = co_await first.result();
  const exec_result other = co_await second.result();
  CHECK(one.std_out + other.std_out == "one\ntwo\n");
}

task<void> open_files(context& place, handle where) {
  const command opens = argv("/bin/bash", "-c", "exec 20</dev/null && echo opened");
  const exec_result usual = co_await place.exec(where, opens);
  if (usual.status.code() == 127) {
    skip("no bash here");
    co_return;
  }
  CHECK(usual.std_out == "opened\n");
  const auto limits = resource_limits().open_files(20);
  const exec_result refused = co_await place.exec(where, command(opens).limits(limits));
  CHECK(refused.std_out.empty());
  CHECK_FALSE(refused.ok());
}

task<void> of_a_handle(context& place, handle) {
  const auto limits = resource_limits().open_files(64).file_size(1 << 20);
  const handle limited = co_await place.spawn(spawn_options().limits(limits));
  std::string all = co_await limits_seen(place, limited, resource_limits());
  CHECK(values_of(all, "Max open files") == "64 64");
  CHECK(values_of(all, "Max file size") == "1048576 1048576");
  const auto own = resource_limits().open_files(32);
  all = co_await limits_seen(place, limited, own);
  CHECK(values_of(all, "Max open files") == "32 32");
  CHECK(values_of(all, "Max file size") == "1048576 1048576");
  process streamed = co_await place.exec_stream(limited, "ulimit -n");
  const auto output = co_await read_all(streamed);
  CHECK(output->out == "64\n");
}

task<void> impossible(context& place, handle where) {
  const auto none = resource_limits().memory(0);
  std::error_code code = co_await failure_of(place.exec(where, command("exit 0").limits(none)));
  CHECK(code == errc::invalid_argument);
  code = co_await failure_of(place.spawn(spawn_options().limits(none)));
  CHECK(code == errc::invalid_argument);
}

task<void> refused_by_the_kernel(context& place, handle where) {
  // More than the kernel lets anybody have, root too.
  const auto limits = resource_limits().open_files(std::uint64_t{1} << 40);
  const exec_result result = co_await place.exec(where, command("echo ran").limits(limits));
  CHECK(result.status.reason() == end_reason::start_failed);
  CHECK(result.status.code() == 126);
  CHECK(result.status.message() == "cannot set the limit of open files to 1099511627776: Operation not permitted");
  CHECK(result.std_out.empty());
}

task<void> in_a_terminal(context& place, handle where) {
  const auto limits = resource_limits().open_files(64);
  const exec_result result = co_await place.exec(where, command("ulimit -n").terminal(80, 24).limits(limits));
  CHECK(result.std_out == "64\r\n");
}

constexpr contract_case limit_table[] = {
    {"limits: each is set, soft and hard, and a shell sees it", all_are_set, needs::limits},
    {"limits: niceness is added to what the place has", niceness, needs::limits},
    {"limits: processor time ends a busy loop, and the status says so, below a shell too", processor_time, 30s,
     needs::limits},
    {"limits: a command that ignores the signal of its processor time is killed", processor_time_of_the_deaf, 30s,
     needs::limits},
    {"limits: a file that grows too large ends its writer, and the status says so", file_size, needs::limits},
    {"limits: memory beyond the limit is refused to the command, or ends it", memory, 30s, needs::limits},
    {"limits: memory is that of all processes of a command, where a cgroup can be had", memory_of_all, 30s,
     needs::limits},
    {"limits: processes are those of one command, where a cgroup can be had", processes_of_all, 30s, needs::limits},
    {"limits: descriptors beyond the limit are refused to the command", open_files, needs::limits},
    {"limits: those of a handle reach every command, and the command's own win", of_a_handle, needs::limits},
    {"limits: values that cannot be are refused", impossible},
    {"limits: one that the kernel refuses is a failed start that names it", refused_by_the_kernel, needs::limits},
    {"limits: they go with a terminal", in_a_terminal, needs::limits},
};

}  // namespace

std::span<const contract_case> limit_cases() { return limit_table; }

}  // namespace berth::contract
