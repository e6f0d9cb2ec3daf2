/// An exec that hangs, as on a dead network file system, holds up nobody else. A permission mark of fanotify makes one: the
/// kernel waits in exec for our answer.
#include "contract/contract.hpp"

#include <asio/posix/stream_descriptor.hpp>
#include <asio/use_awaitable.hpp>

#include <fcntl.h>
#include <sys/fanotify.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>

namespace berth::contract {
namespace {

#ifndef FAN_OPEN_EXEC_PERM
#define FAN_OPEN_EXEC_PERM 0x00040000
#endif

/// Whoever executes the file waits until `let_go` or the end of this object.
class exec_trap {
 public:
  exec_trap(const asio::any_io_executor& executor, const std::string& path)
      : descriptor_(executor, fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC | FAN_NONBLOCK, O_RDONLY | O_CLOEXEC)) {
    const int marked =
        fanotify_mark(descriptor_.native_handle(), FAN_MARK_ADD, FAN_OPEN_EXEC_PERM, AT_FDCWD, path.c_str());
    if (marked != 0) throw std::system_error(errno, std::system_category(), "fanotify_mark");
  }

  static bool permitted() {
    const int fd = fanotify_init(FAN_CLASS_CONTENT | FAN_CLOEXEC, O_RDONLY);
    if (fd >= 0) close(fd);
    return fd >= 0;
  }

  /// Waits until somebody hangs.
  task<void> caught() { return take(*this); }

  void let_go() {
    const fanotify_response answer = {held_, FAN_ALLOW};
    if (held_ >= 0 && write(descriptor_.native_handle(), &answer, sizeof answer) < 0) FAIL_CHECK("no answer taken");
    if (held_ >= 0) close(held_);
    held_ = -1;
  }

  ~exec_trap() {
    if (held_ >= 0) close(held_);
  }

 private:
  static task<void> take(exec_trap& self) {
    co_await self.descriptor_.async_wait(asio::posix::stream_descriptor::wait_read, asio::use_awaitable);
    fanotify_event_metadata event = {};
    const ssize_t n = read(self.descriptor_.native_handle(), &event, sizeof event);
    REQUIRE(n == static_cast<ssize_t>(sizeof event));
    self.held_ = event.fd;
  }

  asio::posix::stream_descriptor descriptor_;
  int held_ = -1;
};

std::string copy_of_child(const handle& where) {
  std::string path = where.cwd() + "/held";
  std::filesystem::copy_file(child_path(), path);
  return path;
}

bool skipped(const char* sentence) {
  if (exec_trap::permitted()) return false;
  std::printf("SKIPPED: %s: fanotify is not permitted\n", sentence);
  return true;
}

task<void> others_go_on(context& place, handle where) {
  if (skipped("an exec that hangs")) co_return;
  const std::string path = copy_of_child(where);
  exec_trap trap(place.get_executor(), path);
  process other = co_await place.exec_stream(where, "echo pids $$; sleep 60");
  const std::vector<pid_t> pids = co_await read_pids(place, where, other);
  auto hanging = start_exec(place, where, argv(path, "echo", "at last"));
  co_await trap.caught();
  const stopwatch watch;
  const exec_result third = co_await place.exec(where, "echo third");
  CHECK(third.std_out == "third\n");
  const exec_result late = co_await place.exec(where, command("sleep 60").timeout(100ms));
  CHECK(late.status.reason() == end_reason::timed_out);
  co_await other.kill();
  CHECK(alive_among(pids).empty());
  CHECK(watch.elapsed() < 2s);
  CHECK_FALSE(hanging.ended());
  trap.let_go();
  const exec_result result = co_await hanging.result();
  CHECK(result.ok());
  CHECK(result.std_out == "at last\n");
}

task<void> cancelled_while_hanging(context& place, handle where) {
  if (skipped("cancelling an exec that hangs")) co_return;
  const std::string path = copy_of_child(where);
  exec_trap trap(place.get_executor(), path);
  auto hanging = start_exec(place, where, argv(path, "echo", "never").grace(200ms));
  co_await trap.caught();
  const stopwatch watch;
  hanging.cancel();
  try {
    const exec_result result = co_await hanging.result();
    CHECK(result.status.reason() == end_reason::cancelled);
    CHECK(result.std_out.empty());
  } catch (const std::system_error& failure) {
    CHECK(is_cancelled(failure.code()));
  }
  CHECK(watch.elapsed() < 2s);
  const exec_result result = co_await place.exec(where, "echo on");
  CHECK(result.std_out == "on\n");
  co_await place.destroy(where);
}

task<void> deadline_while_hanging(context& place, handle where) {
  if (skipped("the deadline of an exec that hangs")) co_return;
  const std::string path = copy_of_child(where);
  exec_trap trap(place.get_executor(), path);
  const stopwatch watch;
  const exec_result result = co_await place.exec(where, argv(path, "echo", "never").timeout(300ms).grace(200ms));
  CHECK(result.status.reason() == end_reason::timed_out);
  CHECK(watch.elapsed() < 3s);
}

task<void> destroyed_while_hanging(context& place, handle where) {
  if (skipped("destroy() beside an exec that hangs")) co_return;
  const std::string path = copy_of_child(where);
  exec_trap trap(place.get_executor(), path);
  auto hanging = start_exec(place, where, argv(path, "echo", "never"));
  co_await trap.caught();
  const stopwatch watch;
  co_await place.destroy(where);
  CHECK(watch.elapsed() < 3s);
  try {
    const exec_result result = co_await hanging.result();
    CHECK(result.status.reason() != end_reason::exited);
  } catch (const std::system_error& failure) {
    const bool told = failure.code() == errc::destroyed || is_cancelled(failure.code());
    CHECK(told);
  }
}

constexpr contract_case hanging_table[] = {
    {"while an exec hangs another command is killed and a third runs", others_go_on, needs::kills_tree},
    {"an exec that hangs can be cancelled", cancelled_while_hanging},
    {"a deadline ends an exec that hangs", deadline_while_hanging, 5s},
    {"destroy() ends an exec that hangs", destroyed_while_hanging},
};

}  // namespace

std::span<const contract_case> hanging_cases() { return hanging_table; }

}  // namespace berth::contract
