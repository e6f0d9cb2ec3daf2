#pragma once
/// One running command over the process of any backend: who reads, who writes, who ends it.

#include "context/run_state.hpp"
#include "core/event.hpp"
#include "core/task_group.hpp"

#include <berth/process.hpp>

#include <asio/any_io_executor.hpp>
#include <asio/steady_timer.hpp>

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <string>

namespace berth {

/// Shared by the process and what is awaited on it.
class process_core : public std::enable_shared_from_this<process_core> {
 public:
  using clock = run_state::clock;

  /// Its deadline counts from `began`. With input, that is fed, then end of file.
  static std::shared_ptr<process_core> make(asio::any_io_executor executor, std::unique_ptr<backend_process> backend,
                                            const command& what, clock::time_point began,
                                            std::optional<std::string> input);

  process_core(asio::any_io_executor executor, std::unique_ptr<backend_process> backend, const command& what,
               clock::time_point began);
  process_core(const process_core&) = delete;
  process_core& operator=(const process_core&) = delete;
  ~process_core();

  /// Takes in the end of a command that never ran, so that its status is there at once.
  static task<void> settle(std::shared_ptr<process_core> self);
  static task<std::optional<chunk>> next(std::shared_ptr<process_core> self);
  static task<exit_status> wait(std::shared_ptr<process_core> self);
  static task<void> write(std::shared_ptr<process_core> self, std::string bytes);
  static task<void> close_stdin(std::shared_ptr<process_core> self);
  static task<exit_status> kill(std::shared_ptr<process_core> self);

  static task<std::vector<std::uint16_t>> ports(std::shared_ptr<process_core> self);

  void signal(int signo);
  void resize(terminal_size size);
  /// For a caller that was cancelled: the tree is to end if the command runs, else the drain.
  void cancel();
  /// Its process was destroyed: what runs is killed without waiting.
  void drop();

  std::int64_t pid() const noexcept { return pid_; }
  const run_state& state() const noexcept { return state_; }
  const std::optional<exit_status>& status() const noexcept { return status_; }
  const std::optional<denial>& denied() const noexcept { return denied_; }

 private:
  class use;
  class reader;

  static task<std::optional<chunk>> step(std::shared_ptr<process_core> self);
  static task<std::optional<chunk>> ask_what_was_denied(std::shared_ptr<process_core> self);
  static task<void> send(std::shared_ptr<process_core> self, std::string bytes);
  static task<void> feed(std::shared_ptr<process_core> self, std::string input);

  void start_deadline();
  void start_kill(end_reason reason, std::chrono::milliseconds grace);
  std::optional<chunk> take(process_event happened);
  void finish();
  void release();
  std::optional<chunk> take_held();
  void hold(chunk piece);
  bool has_ended() const;
  bool denial_is_due() const;
  chunk hint() const;
  bool holds_enough(clock::time_point now) const;
  void require_stream_input() const;
  event& changed();

  asio::any_io_executor executor_;
  std::unique_ptr<backend_process> backend_;
  std::int64_t pid_;
  input_kind input_;
  bool has_terminal_;
  output_stream hint_stream_;
  bool hints_;
  std::chrono::milliseconds grace_;
  run_state state_;
  std::optional<exit_status> status_;
  std::optional<denial> denied_;
  std::optional<asio::steady_timer> deadline_;
  std::optional<task_group> feeder_;
  std::optional<event> changed_;

  bool reading_ = false;  // somebody is in next() or wait()
  bool pumping_ = false;  // somebody awaits the backend's next()
  bool writing_ = false;
  bool stdin_closed_ = false;
  bool asking_ = false;  // for ports
  bool knows_denial_ = false;
  bool is_in_line_ = false;  // what came last on the stream of the hint has not ended its line
  int uses_ = 0;             // awaits on the backend
  // What a kill() read that nobody asked for yet.
  std::list<chunk> held_;
  std::size_t held_bytes_ = 0;
  clock::time_point kill_due_{};
};

}  // namespace berth
