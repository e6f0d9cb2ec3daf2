#pragma once
/// One of this program's standard streams, read or written without holding up the io_context.

#include <berth/task.hpp>

#include <asio/any_io_executor.hpp>

#include <memory>
#include <string>
#include <system_error>

namespace berth::cli {

/// A standard stream is shared: with the shell, with the other programs of a pipeline. So its O_NONBLOCK is not touched. A pipe or
/// terminal is opened a second time, for ourselves and non-blocking; where that is refused (it belongs to another user) the
/// stream itself is used, in pieces that do not block once it is ready.
///
/// Errors: std::system_error with the code of the system.
class standard_stream {
 public:
  enum class direction { in, out };

  /// The descriptor must stay open as long as the stream is used.
  standard_stream(asio::any_io_executor executor, int fd, direction way);

  /// The next bytes; empty at the end. While a terminal belongs to another job than ours, this waits.
  task<std::string> read();

  /// Writes all.
  task<void> write(std::string bytes);

  /// Nobody waits for the reader of this stream any more: pending and later writes end at once, and their bytes are lost.
  void give_up();

 private:
  struct state;

  static task<std::string> read_from(std::shared_ptr<state> self);
  static task<void> write_to(std::shared_ptr<state> self, std::string bytes);
  static task<void> ready(std::shared_ptr<state> self);
  static task<void> pause(std::shared_ptr<state> self);

  std::shared_ptr<state> state_;
};

/// Writes all, and gives the failure of the stream instead of throwing it.
///
/// Life: the stream stays alive for the whole await.
task<std::error_code> try_write(standard_stream& stream, std::string bytes);

}  // namespace berth::cli
