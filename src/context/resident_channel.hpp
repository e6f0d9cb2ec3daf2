#pragma once
/// The bytes between an owner and its resident, and the descriptors that travel with them.

#include "berth/task.hpp"
#include "os/fd_reserve.hpp"
#include "os/unique_fd.hpp"

#include <asio/any_io_executor.hpp>

#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace berth {

/// Descriptors that came with one message.
struct fd_batch {
  std::vector<unique_fd> fds = {};
  bool truncated = false;  ///< there was no room for all of them; the rest is lost
};

/// Where descriptors arrive, and the room kept for them.
struct fd_inbox {
  std::deque<fd_batch> batches = {};
  fd_reserve reserve = {};
};

/// A byte stream in both directions. Whoever uses it keeps it alive by shared_ptr; each read does so by itself.
class resident_channel {
 public:
  virtual ~resident_channel() = default;

  /// Reads what is there, waiting for at least a byte; 0 at the end. Descriptors go to the inbox, whose reserve makes room for
  /// them. Buffer and inbox belong to the caller for the whole await.
  virtual task<std::size_t> read(std::span<char> into, fd_inbox& inbox) = 0;
  /// Writes what can be written at once and queues the rest; descriptors go with the first byte. After an error or a close
  /// it does nothing: the reader sees the end.
  virtual void send(std::string bytes, std::vector<unique_fd> fds) = 0;
  /// Could descriptors be sent and received?
  virtual bool passes_fds() const noexcept = 0;
  /// Is there something to read now? Looks at the system, not at what was noticed before.
  virtual bool has_input() const noexcept = 0;
  /// Ends both directions. A read that is under way ends with 0.
  virtual void close() noexcept = 0;
};

/// Over one end of a connected unix stream socket.
std::shared_ptr<resident_channel> make_socket_channel(asio::any_io_executor executor, unique_fd socket);

/// Over two descriptors, pipes as a rule: no descriptors can be passed.
std::shared_ptr<resident_channel> make_stdio_channel(asio::any_io_executor executor, unique_fd from_resident,
                                                     unique_fd to_resident);

}  // namespace berth
