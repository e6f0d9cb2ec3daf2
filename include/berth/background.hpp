#pragma once
/// A command that goes on by itself: its output goes to a log that is read by cursor.

#include <berth/exit_status.hpp>
#include <berth/output_log.hpp>
#include <berth/process.hpp>
#include <berth/task.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// What `wait_for_output` waits for: text as it is, or a regular expression.
class output_pattern {
 public:
  output_pattern(std::string text) : text_(std::move(text)) {}
  output_pattern(const char* text) : text_(text) {}
  /// ECMAScript, matched line by line without the newline; also against the last line as far as it has come.
  /// Errors: invalid_argument when it is used, for one that does not compile.
  static output_pattern regex(std::string expression);

  const std::string& text() const noexcept { return text_; }
  bool is_regex() const noexcept { return is_regex_; }

 private:
  std::string text_;
  bool is_regex_ = false;
};

/// Where an output was found.
class output_match {
 public:
  output_match() = default;
  output_match(output_stream stream, std::uint64_t offset, std::string text)
      : stream_(stream), offset_(offset), text_(std::move(text)) {}

  output_stream stream() const noexcept { return stream_; }
  /// Of its first byte in the stream.
  std::uint64_t offset() const noexcept { return offset_; }
  /// What matched.
  const std::string& text() const noexcept { return text_; }

 private:
  output_stream stream_ = output_stream::std_out;
  std::uint64_t offset_ = 0;
  std::string text_;
};

class kept_command;

/// A background command. A value: copies mean the same command, and dropping them all leaves it running with its handle.
///
/// Its log keeps the last `command::output_limit` bytes of each stream (default 1 MiB), and `command::spill` all of them in files.
/// Nobody needs to read it: output is taken from the command at once, and it never blocks.
class background {
 public:
  background() = default;
  explicit background(std::shared_ptr<kept_command> core);

  /// The caller's key (`command::key`), or one of the handle's own.
  const std::string& id() const noexcept;
  /// In the command's own place; 0 where the start failed or a backend has none.
  std::int64_t pid() const noexcept;

  /// What the log has from `offset` on, at most `max` bytes; waits for nothing. Offsets count every byte since the start.
  log_piece read(output_stream stream, std::uint64_t offset, std::size_t max = 64 * 1024) const;
  /// The last bytes of the log.
  log_piece tail(output_stream stream, std::size_t max = 64 * 1024) const;
  /// As read, but waits until there is a byte or the end.
  task<log_piece> follow(output_stream stream, std::uint64_t offset, std::size_t max = 64 * 1024) &;

  /// Waits for the end of the command and its output.
  task<exit_status> wait() &;
  /// Waits until the output shows the pattern on either stream, from its beginning as far as the log still has it. Nothing when the
  /// time has passed, or the output ended without it.
  task<std::optional<output_match>> wait_for_output(output_pattern pattern, std::chrono::milliseconds deadline) &;
  /// Waits until a process of the command listens on this TCP port. False when the time has passed or nothing of the command is left.
  task<bool> wait_for_port(std::uint16_t port, std::chrono::milliseconds deadline) &;
  /// See process::ports.
  task<std::vector<std::uint16_t>> ports() &;

  /// See process::write; for a command with `command::input_stream`.
  task<void> write(std::string bytes) &;
  task<void> close_stdin() &;
  /// To the command's process group. Does nothing once it has ended.
  void signal(int signo);
  /// Ends the tree (TERM, grace, KILL) and waits until it is dead.
  task<exit_status> kill() &;

  /// The end, once it has come and all output is in the log.
  const std::optional<exit_status>& status() const noexcept;
  resource_usage usage() const noexcept;
  /// Why the spill file is not whole; empty where it is.
  const std::string& spill_error() const noexcept;

 private:
  std::shared_ptr<kept_command> core_;
};

}  // namespace berth
