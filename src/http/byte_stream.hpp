#pragma once
/// Bytes in both directions, whatever carries them.

#include "berth/task.hpp"

#include <asio/any_io_executor.hpp>

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace berth::http {

/// A connection: tcp, unix, TLS over another one, or the standard streams of a child.
///
/// One reader and one writer at a time, which may work side by side.
/// Cancel: a cancelled read loses nothing and may be repeated. After a cancelled write the stream can only be closed.
/// Life:   it is closed when the last owner and the last operation let go of it.
class byte_stream {
 public:
  virtual ~byte_stream() = default;

  /// Reads what is there, waiting for at least a byte; 0 at the end. The buffer belongs to the caller for the whole await.
  /// Errors: those of the system; operation_aborted after `close`; over TLS errc::lost for an end that the other side did not say.
  virtual task<std::size_t> read(std::span<char> into) = 0;
  /// Writes all of it.
  virtual task<void> write(std::string bytes) = 0;
  /// Tells the other side that nothing more comes; reading goes on. Over TLS by a close_notify.
  virtual task<void> shutdown_write() = 0;
  /// Says a last word before `close`, without waiting; false where not all of it could go out. While no write is under way only.
  virtual bool write_last(std::string_view bytes) noexcept = 0;
  /// Ends both directions, and what is under way.
  virtual void close() noexcept = 0;
  /// Open, and neither bytes nor an end wait to be read: what an idle connection must be to be used again.
  virtual bool is_quiet() const noexcept = 0;
  /// How many of the bytes to be written left this process, or may have: none before is certainty.
  virtual std::uint64_t written() const noexcept = 0;
};

using stream_ptr = std::shared_ptr<byte_stream>;

/// Over a connected socket (tcp or unix), whose descriptor it takes.
stream_ptr make_socket_stream(asio::any_io_executor executor, int socket);

/// Writes to a pipe without raising SIGPIPE; as write(2).
using pipe_writer = ssize_t (*)(int fd, const void* data, std::size_t size) noexcept;

/// Over the standard streams of a child: two descriptors that it takes. The owner of the child (it ends the child when it is
/// destroyed) is kept until `close`.
stream_ptr make_stdio_stream(asio::any_io_executor executor, int from_child, int to_child, pipe_writer writer,
                             std::shared_ptr<void> child);

/// A stream that first gives bytes which were read already, then goes on with the other.
stream_ptr make_stream_after(std::string read_before, stream_ptr stream);

}  // namespace berth::http
