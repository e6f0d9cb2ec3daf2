#pragma once
/// A running command.

#include <berth/api.hpp>
#include <berth/denial.hpp>
#include <berth/exit_status.hpp>
#include <berth/task.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

enum class output_stream : std::uint8_t { std_out, std_err };

/// A piece of output as it was read: never empty, its bytes exactly the command's unless it is a hint. Characters may be cut at its
/// ends.
class BERTH_API chunk {
 public:
  chunk() = default;
  chunk(output_stream stream, std::string bytes) : stream_(stream), bytes_(std::move(bytes)) {}
  static chunk hint(output_stream stream, std::string line) {
    chunk made(stream, std::move(line));
    made.is_hint_ = true;
    return made;
  }

  output_stream stream() const noexcept { return stream_; }
  const std::string& bytes() const& noexcept { return bytes_; }
  std::string&& bytes() && noexcept { return std::move(bytes_); }
  /// It is not of the command: the line about what it was denied, and the last chunk. See `command::hints`.
  bool is_hint() const noexcept { return is_hint_; }

 private:
  output_stream stream_ = output_stream::std_out;
  bool is_hint_ = false;
  std::string bytes_;
};

class process_core;

/// A running command, on whatever backend. Movable, not copyable.
///
/// Life: destroying a process that has not ended sends KILL to its whole tree at once and does not wait for it. Destroy it
/// before the io_context.
class BERTH_API process {
 public:
  process() = default;
  explicit process(std::shared_ptr<process_core> core);
  process(process&&) noexcept = default;
  process& operator=(process&& other) noexcept;
  ~process();

  /// The pid in the command's own place, or 0 where a backend has none. In a place that is a pid namespace of its own (isolation, a
  /// container) it is what the command sees as its pid; outside, the process has another, and this one may be somebody else's.
  std::int64_t pid() const noexcept;

  /// The next piece of output; nullopt once the command has ended and its output was read.
  ///
  /// Reads alternate between streams that have data. Order is exact within a stream, best effort across the two (see
  /// `command::merge_stderr`). Not calling it is back-pressure: the command blocks when its pipe is full. After the command
  /// exits its output is drained to the end, or, where something it left running holds the pipes open, until 250 ms of reading
  /// pass without a byte, 2 s at most; streams_open() then says so. What lay in the pipes is read in any case.
  /// Errors: conflict while another next() or wait() is pending.
  /// Cancel: ends the wait only; the command goes on and no byte is lost.
  task<std::optional<chunk>> next() &;

  /// Waits for the end, throwing away what nobody reads: it never deadlocks on a full pipe.
  task<exit_status> wait() &;

  /// Writes all bytes to standard input, waiting while its pipe is full.
  /// Errors: invalid_argument without `command::input_stream`; std::errc::broken_pipe once the command closed its end; conflict
  /// while another write is pending.
  task<void> write(std::string bytes) &;

  /// Ends standard input, behind a write that is pending. Does nothing the second time.
  task<void> close_stdin() &;

  /// Sends a signal to the command's process group. Does nothing once it has ended. Errors: unsupported.
  void signal(int signo);

  /// Changes the size of its terminal, which tells the command by SIGWINCH. Does nothing once it has ended.
  /// Errors: invalid_argument without `command::terminal`, or for a size that cannot be.
  void resize(int columns, int rows);

  /// TCP ports on which processes of the command listen, ascending.
  /// Errors: unsupported where the backend cannot tell.
  task<std::vector<std::uint16_t>> ports() &;

  /// Ends the tree (TERM, grace, KILL) and waits until it is dead; what came is still there for next(). The reason is
  /// `cancelled` unless it ended by itself first. May be called while another coroutine is in next() or wait(). Of a command that
  /// has ended it ends what that left running.
  /// Cancel: ends the wait only.
  task<exit_status> kill() &;

  /// The end, once next() gave nullopt, or wait() or kill() returned.
  const std::optional<exit_status>& status() const noexcept;
  resource_usage usage() const noexcept;
  /// Something left running still held the output open when the reading was given up.
  bool streams_open() const noexcept;
  /// What its isolation denied it, once next() gave nullopt or wait() returned. Mostly nothing; always without isolation.
  const std::optional<denial>& denied() const noexcept;
  /// Processes that a kill could not end. Usually empty.
  std::vector<survivor> survivors() const;

 private:
  std::shared_ptr<process_core> core_;
};

}  // namespace berth
