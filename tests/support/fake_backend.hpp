#pragma once
/// A backend in memory: each command does what the test says, when the test says it.

#include "core/event.hpp"

#include <berth/backend.hpp>

#include <asio/any_io_executor.hpp>

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace berth::test {

/// One started command, shared by the test, which says what happens, and by the library, which is told.
class fake_run : public std::enable_shared_from_this<fake_run> {
 public:
  fake_run(asio::any_io_executor executor, command started);

  // What happens.
  fake_run& out(std::string bytes);
  fake_run& err(std::string bytes);
  fake_run& end_streams();
  fake_run& exit(int code = 0);
  fake_run& exit(exit_status status);
  fake_run& end_tree(std::vector<survivor> survivors = {});
  fake_run& lose(std::string message);
  /// Nobody reads standard input any more.
  fake_run& close_input();

  // How it behaves.
  std::function<void(fake_run&, std::chrono::milliseconds grace)> on_kill = die;
  bool knows_exit = true;            ///< has_exited() tells
  std::vector<std::uint16_t> ports;  ///< on which it listens
  std::optional<denial> denied;
  std::optional<event> hold_denied;    ///< the answer waits for it, where it is set
  std::size_t stdin_room = 64 * 1024;  ///< so much can be written before somebody reads

  /// Ends by TERM, or by KILL without a grace, what has not ended; the streams end, then the tree.
  static void die(fake_run& run, std::chrono::milliseconds grace);
  static void ignore(fake_run&, std::chrono::milliseconds) {}

  // What was asked of it.
  command what;
  std::vector<int> signals;
  std::vector<std::chrono::milliseconds> kills;
  std::string written;
  bool stdin_closed = false;
  std::vector<terminal_size> sizes;
  bool abandoned = false;
  int denied_asked = 0;
  bool destroyed = false;
  int pending_reads = 0;

  // Called by the backend's objects.
  static task<process_event> next(std::shared_ptr<fake_run> self, std::chrono::steady_clock::time_point until);
  static task<void> write(std::shared_ptr<fake_run> self, std::string bytes);
  bool has_exited() const noexcept { return exited_; }
  std::size_t unread() const noexcept { return events_.size(); }

 private:
  fake_run& push(process_event happened);

  std::deque<process_event> events_;
  event changed_;
  event input_changed_;
  bool exited_ = false;
  bool streams_ended_ = false;
  bool input_closed_ = false;
};

/// Makes places whose commands are fake_runs.
class fake_backend : public context_backend {
 public:
  explicit fake_backend(asio::any_io_executor executor);
  fake_backend(const fake_backend&) = delete;
  fake_backend& operator=(const fake_backend&) = delete;
  ~fake_backend() override;

  /// Says what a command does; it may also be left to the test, by way of `runs`. May throw: then the start does.
  std::function<void(fake_run&)> on_start = [](fake_run&) {};
  capabilities abilities;
  std::vector<std::shared_ptr<fake_run>> runs;
  std::vector<std::string> destroyed;  ///< ids of places that ended politely
  std::vector<std::string> dropped;    ///< ids of all places whose object is gone
  std::optional<event> hold_spawn;     ///< a spawn waits for it, where it is set
  std::optional<event> hold_start;

  fake_run& last() { return *runs.back(); }

  std::string_view type() const noexcept override { return "fake"; }
  capabilities can() const noexcept override { return abilities; }
  task<spawned_place> spawn(std::string id, spawn_options options) override;

 private:
  class place;

  asio::any_io_executor executor_;
  std::shared_ptr<fake_backend*> self_;  // null once the backend is gone; places may outlive it
};

}  // namespace berth::test
