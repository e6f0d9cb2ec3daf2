/// What this program does inside of surroundings that were made for it.
#include "isolation_cases/case_site.hpp"
#include "isolation_cases/surroundings.hpp"
#include "support/proc_scan.hpp"

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace berth::test {
namespace {

namespace fs = std::filesystem;

int wrong = 0;

void expect(bool is_so, const std::string& what) {
  if (is_so) return;
  ++wrong;
  std::printf("wrong: %s\n", what.c_str());
}

void expect_closed(const exit_status& status, const std::string& cause, const std::string& kind) {
  const std::string text = kind + ": " + describe(status) + ": " + status.message();
  expect(status.reason() == end_reason::start_failed && status.code() == 127, text);
  expect(status.message().starts_with("[isolation] ") && status.message().ends_with("; command was not run"), text);
  expect(status.message().find('\n') == std::string::npos, text);
  expect(status.message().find(cause) != std::string::npos, text + " (" + cause + "?)");
}

task<void> expect_all_closed(context place, handle where, std::string root, std::string cause) {
  const std::string marker = "touch " + root + "/marker";
  const exec_result got = co_await place.exec(where, command(marker));
  expect_closed(got.status, cause, "exec");
  process stream = co_await place.exec_stream(where, command(marker));
  const exit_status streamed = co_await stream.wait();
  expect_closed(streamed, cause, "stream");
  background behind = co_await place.exec_background(where, command(marker));
  const exit_status waited = co_await behind.wait();
  expect_closed(waited, cause, "background");
  terminal_options options;
  options.run(command(marker));
  terminal screen = co_await place.open_terminal(where, std::move(options));
  const exit_status shown = co_await screen.exited();
  expect_closed(shown, cause, "terminal");
  expect(!fs::exists(root + "/marker"), "a command ran");
}

task<void> closed(asio::io_context& io, std::string cause) {
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  co_await expect_all_closed(place, where, site.root(), cause);
  const std::string read = co_await place.read_file(where, site.root() + "/.git/config");
  expect(read == "old", "a file is read: " + read);
  const std::vector<file_info> listed = co_await place.list_files(where, site.root());
  expect(listed.size() == 4, "a directory is listed");
  co_await place.destroy(where);
}

task<void> expect_sandbox(context place, handle where, std::string outside) {
  const exec_result got = co_await place.exec(where, command("echo hi >a; cat a; echo x >$OUT/new"));
  expect(got.std_out == "hi\n", "a command runs: " + describe(got.status) + " " + got.status.message() + got.std_err);
  expect(got.std_err.find("Read-only file system") != std::string::npos, "a sandbox: " + got.std_err);
  expect(!fs::exists(outside + "/new"), "it wrote outside");
}

task<void> work_inside(asio::io_context& io) {
  const case_site site;
  auto [place, where] = co_await open_site(io, site, sees_sites());
  co_await expect_sandbox(place, where, site.outside());
  co_await place.destroy(where);
}

task<void> gone(asio::io_context& io) {
  const case_site site;
  auto [place, where] = co_await open_site(io, site, sees_sites());
  co_await expect_sandbox(place, where, site.outside());
  expect(std::system("rm ${PATH%%:*}/bwrap") == 0, "bwrap can be removed");
  co_await expect_sandbox(place, where, site.outside());
  const handle other = co_await place.spawn();
  co_await expect_all_closed(place, other, site.root(), "install bubblewrap");
  for (const process_info& each : all_processes()) {
    if (each.parent == ::getpid()) ::kill(each.pid, SIGKILL);
  }
  const auto is_alone = [] {
    for (const process_info& each : all_processes()) {
      if (each.parent == ::getpid() && !each.dead()) return false;
    }
    return true;
  };
  const bool alone = co_await becomes_true(is_alone);
  expect(alone, "a sandbox was killed");
  co_await pause_for(300ms);
  co_await expect_all_closed(place, where, site.root(), "install bubblewrap");
  co_await place.destroy(other);
  co_await place.destroy(where);
}

/// Mounts of this host are shared here, as systemd has them everywhere.
task<void> late(asio::io_context& io) {
  const case_site site;
  auto [place, where] = co_await open_site(io, site, sees_sites());
  const auto writes = [](const std::string& into) { return command("echo x >" + into + "/new; ls " + into); };
  const std::string path = site.outside() + "/late", below = site.root() + "/late";
  for (const std::string& each : {path, below}) fs::create_directory(each);
  const exec_result before = co_await place.exec(where, writes(path));
  expect(before.std_err.find("Read-only file system") != std::string::npos, "a sandbox: " + before.std_err);
  command waits = command("echo up; cat; echo x >" + below + "/old; ls " + below).input_stream();
  process running = co_await place.exec_stream(where, std::move(waits));
  (void)co_await running.next();
  for (const std::string& each : {path, below})
    expect(std::system(("mount -t tmpfs -o mode=777 late " + each).c_str()) == 0, "a file system can be mounted");
  const exec_result after = co_await place.exec(where, writes(path));
  expect(!fs::exists(path + "/new"), "it was written: " + after.std_out + after.std_err);
  co_await running.close_stdin();
  const exit_status ended = co_await running.wait();
  expect(ended.ok() && !fs::exists(below + "/old"), "what runs does not get it either");
  const exec_result fresh = co_await place.exec(where, writes(below));
  expect(fresh.std_out == "new\n" && fs::exists(below + "/new"), "a later command has it in a root: " + fresh.std_err);
  const handle other = co_await place.spawn();
  const exec_result anew = co_await place.exec(other, writes(path));
  expect(anew.std_err.find("Read-only file system") != std::string::npos, "it is read-only: " + anew.std_err);
  const exec_result own = co_await place.exec(other, writes(below));
  expect(own.std_out == "new\n" && fs::exists(below + "/new"), "a root has it: " + own.std_err);
  co_await place.destroy(other);
  co_await place.destroy(where);
}

task<void> own(asio::io_context& io) {
  const case_site site;
  auto [place, where] = co_await open_site(io, site);
  process stream = co_await place.exec_stream(where, command("sleep 276 & setsid sleep 276 & echo up; wait"));
  (void)co_await stream.next();
  (void)co_await place.exec_background(where, command("sleep 276"));
  terminal_options options;
  options.run(command("sleep 276; true"));
  terminal screen = co_await place.open_terminal(where, std::move(options));
  std::printf("ready\n");
  std::fflush(stdout);
  (void)co_await screen.exited();
}

/// As the default profile of a container has it.
void refuse_mounts() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mount, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{sizeof program / sizeof program[0], program};
  expect(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no new privileges");
  expect(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0, "a filter");
}

void run(asio::io_context& io, task<void> work) {
  const auto on_end = [](std::exception_ptr failure) {
    if (failure) std::rethrow_exception(failure);
  };
  asio::co_spawn(io, std::move(work), on_end);
  io.run();
}

}  // namespace

int run_inside(const std::vector<std::string>& words) {
  const std::string verb = words.empty() ? "" : words[0];
  if (verb == "filtered") {
    refuse_mounts();
    return run_inside({words.begin() + 1, words.end()});
  }
  asio::io_context io(1);
  try {
    if (verb == "closed") {
      run(io, closed(io, words.at(1)));
    } else if (verb == "works") {
      run(io, work_inside(io));
    } else if (verb == "gone") {
      run(io, gone(io));
    } else if (verb == "late") {
      run(io, late(io));
    } else if (verb == "owner") {
      run(io, own(io));
    } else {
      expect(false, "no verb " + verb);
    }
  } catch (const std::exception& failure) {
    expect(false, failure.what());
  }
  std::fflush(stdout);
  return wrong == 0 ? 0 : 1;
}

}  // namespace berth::test
