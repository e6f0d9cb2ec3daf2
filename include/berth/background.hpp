#pragma once
/// A command that goes on by itself: its output goes to a log that is read by cursor.

#include <berth/api.hpp>
#include <berth/exit_status.hpp>
#include <berth/output_log.hpp>
#include <berth/process.hpp>
#include <berth/task.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace berth {

/// What `wait_for_output` waits for: text as it is, or a regular expression.
class BERTH_API output_pattern {
 public:
  output_pattern(std::string text) : text_(std::move(text)) {}
  output_pattern(const char* text) : text_(text) {}
  /// Of a longer line so much is looked at.
  static constexpr std::size_t line_limit = std::size_t{16} << 10;

  /// ECMAScript, matched line by line without the line's end (LF or CR LF); also against the last line as far as it has come.
  /// Its time is bounded, so it has no back references, does not look ahead, and is of moderate size.
  /// Errors: invalid_argument when it is used, for one that does not compile.
  static output_pattern regex(std::string expression);

  /// Looks at this stream from the offset on, not from its beginning: `from(match->end(), match->stream())` finds the next one.
  /// A regular expression sees the line as if it began there.
  output_pattern& from(std::uint64_t offset, output_stream stream = output_stream::std_out) & {
    (stream == output_stream::std_out ? from_out_ : from_err_) = offset;
    return *this;
  }
  output_pattern&& from(std::uint64_t offset, output_stream stream = output_stream::std_out) && {
    return std::move(from(offset, stream));
  }

  const std::string& text() const noexcept { return text_; }
  bool is_regex() const noexcept { return is_regex_; }
  std::uint64_t begin(output_stream stream) const noexcept {
    return stream == output_stream::std_out ? from_out_ : from_err_;
  }

 private:
  std::string text_;
  bool is_regex_ = false;
  std::uint64_t from_out_ = 0;
  std::uint64_t from_err_ = 0;
};

/// Where an output was found.
class BERTH_API output_match {
 public:
  output_match() = default;
  output_match(output_stream stream, std::uint64_t offset, std::string text)
      : stream_(stream), offset_(offset), text_(std::move(text)) {}

  output_stream stream() const noexcept { return stream_; }
  /// Of its first byte in the stream.
  std::uint64_t offset() const noexcept { return offset_; }
  /// Of the byte behind its last.
  std::uint64_t end() const noexcept { return offset_ + text_.size(); }
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
class BERTH_API background {
 public:
  background() = default;
  explicit background(std::shared_ptr<kept_command> core);

  /// The caller's key (`command::key`), or a name of the handle's own.
  const std::string& id() const noexcept;
  /// In the command's own place, as process::pid(); 0 where the start failed or a backend has none.
  std::int64_t pid() const noexcept;

  /// What the log has from `offset` on, at most `max` bytes; waits for nothing. Offsets count every byte since the start.
  log_piece read(output_stream stream, std::uint64_t offset, std::size_t max = 64 * 1024) const;
  /// The last bytes of the log.
  log_piece tail(output_stream stream, std::size_t max = 64 * 1024) const;
  /// As read, but waits until there is a byte or the end.
  task<log_piece> follow(output_stream stream, std::uint64_t offset, std::size_t max = 64 * 1024) &;

  /// Waits for the end of the command and its output. After the command exits, its output is drained as by process::next.
  /// A handle that is destroyed ends it as `cancelled`.
  task<exit_status> wait() &;
  /// Waits until the output shows the pattern on either stream, from its beginning (or output_pattern::from) as far as the log still
  /// has it: what was there before the call is found too. Nothing when the time has passed, or the output ended without it. Text may
  /// span lines; the empty one is found at once. Offsets in what the log has lost already are not searched.
  task<std::optional<output_match>> wait_for_output(output_pattern pattern, std::chrono::milliseconds deadline) &;
  /// Waits until a process of the command listens on this TCP port. False when the time has passed, or the command has ended and what
  /// it left running, if anything, did not listen for 2 s after that.
  /// Errors: as process::ports.
  task<bool> wait_for_port(std::uint16_t port, std::chrono::milliseconds deadline) &;
  /// See process::ports.
  task<std::vector<std::uint16_t>> ports() &;

  /// For a command with `command::input_stream`. Each write goes in whole, in the order in which they began.
  /// Errors: invalid_argument without it; std::errc::broken_pipe once the command closed its end or has ended.
  /// Cancel: what was not written yet is dropped.
  task<void> write(std::string bytes) &;
  /// Ends standard input, behind the writes that began before.
  task<void> close_stdin() &;
  /// To the command's process group. Does nothing once it has ended. Errors: as process::signal.
  void signal(int signo);
  /// Ends the tree (TERM, grace, KILL) and waits until it is dead and its output is in the log. See process::kill.
  task<exit_status> kill() &;

  /// Once it has ended: the handle lists it no more, and its key is free for another start.
  /// Errors: conflict while it runs.
  void forget();

  /// The end, once it has come and all output is in the log.
  const std::optional<exit_status>& status() const noexcept;
  resource_usage usage() const noexcept;
  /// Something it left running still held the output open when the reading was given up: the log has ended, that goes on.
  bool streams_open() const noexcept;
  /// See process::denied.
  const std::optional<denial>& denied() const noexcept;
  /// Why the spill file is not whole; empty where it is.
  const std::string& spill_error() const noexcept;

 private:
  std::shared_ptr<kept_command> core_;
};

}  // namespace berth
