#pragma once
/// What both kinds of a resident's command have in common: its start, its end, and its kill.

#include "berth/backend.hpp"
#include "context/resident_session.hpp"
#include "context/resident_start.hpp"
#include "core/event.hpp"

#include <deque>
#include <memory>
#include <optional>

namespace berth {

/// State of one command, shared by the session, the process object, and the tasks that wait for something of it.
///
/// Life: the session keeps it until release(), which the process object calls at its end.
class resident_command : public frame_sink, public std::enable_shared_from_this<resident_command> {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  resident_command(std::shared_ptr<resident_session> session, start_request request);

  /// Sends the request, or settles it as failed where that is known before.
  void begin();
  /// It runs, or never will.
  bool settled() const noexcept { return started_ || failed_ || lost_; }
  bool is_copy() const noexcept { return session_->is_copy(); }
  event& changed() noexcept { return changed_; }

  std::int64_t pid() const noexcept { return pid_; }
  bool has_exited() const noexcept { return exited_ || failed_; }
  bool is_over() const noexcept { return failed_ || lost_ || (exited_ && !kill_asked_); }
  static task<process_event> next(std::shared_ptr<resident_command> self, time_point until);
  void signal(int signo);
  void kill(std::chrono::milliseconds grace);
  static task<std::vector<std::uint16_t>> ports(std::shared_ptr<resident_command> self);
  /// The process object is gone: what must not outlive it is killed.
  void release();

  virtual task<void> write(std::string bytes) = 0;
  virtual void close_stdin() = 0;
  virtual void resize(terminal_size size) = 0;
  virtual void abandon_streams() = 0;

  void on_frame(const wire::header& header, std::string_view payload, fd_batch fds) final;
  void on_lost(const std::string& cause) final;
  void on_news() final { changed_.notify(); }

 protected:
  /// Takes the streams that came with `started`; false if they are not there.
  virtual bool take_streams(fd_batch fds) = 0;
  virtual void on_stream_frame(const wire::header& header, std::string_view payload) = 0;
  /// A chunk that is there. `look`: do not rely on what was noticed.
  virtual std::optional<chunk> take_chunk(bool look) = 0;
  virtual bool streams_done() const = 0;
  /// Sees to it that changed() is notified once there is a chunk, or the end of a stream.
  virtual void arm() {}
  /// Closes all streams; an open output is given back to the resident if it is to be drained.
  virtual void close_streams() = 0;
  /// It is lost: a write that waits for something of the resident waits no more.
  virtual void wake_writers() {}

  resident_session& session() const noexcept { return *session_; }
  std::uint32_t id() const noexcept { return id_; }
  bool lost() const noexcept { return lost_; }
  bool has_input() const noexcept { return request_.has_input(); }
  bool merges() const noexcept { return request_.merges(); }
  bool has_terminal() const noexcept { return request_.has_terminal(); }

 private:
  std::optional<process_event> take(bool look);
  void on_started(std::string_view payload, fd_batch fds);
  void on_exited(std::string_view payload);
  void on_tree_ended(std::string_view payload);
  void on_ports(std::string_view payload);
  void fail(exit_status status);
  void note_busy();
  void settle_descriptors();
  bool needs_kill() const noexcept;
  bool is_unreachable() const noexcept;
  bool has_no_more_output() const;
  bool may_bring_output(time_point now);

  std::shared_ptr<resident_session> session_;
  start_request request_;
  event changed_;
  std::uint32_t id_ = 0;
  std::int64_t pid_ = 0;
  std::size_t expected_fds_ = 0;
  bool started_ = false;
  bool failed_ = false;
  bool exited_ = false;
  bool kill_asked_ = false;  ///< and not answered yet
  time_point give_up_ =
      time_point::max();  ///< when a kill is no longer waited for, if something keeps the resident from it
  // Whether output that was sent before may still be on its way; begins anew with each piece.
  std::uint64_t question_ = 0;  ///< that is asked now
  int answers_ = 0;
  time_point asked_at_{};
  bool plans_changed_ = false;  ///< whoever waits decides anew for how long
  // The resident answers in the order of the questions.
  std::uint64_t ports_asked_ = 0;
  std::uint64_t ports_answered_ = 0;
  std::vector<std::uint16_t> ports_;  ///< the last answer
  bool streams_told_ = false;
  bool lost_ = false;
  bool lost_told_ = false;
  std::string cause_;
  std::deque<process_event> pending_;
};

std::shared_ptr<resident_command> make_handed_command(std::shared_ptr<resident_session> session, start_request request);
std::shared_ptr<resident_command> make_framed_command(std::shared_ptr<resident_session> session, start_request request);

}  // namespace berth
