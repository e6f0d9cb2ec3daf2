#pragma once
/// A socket that is put into a container, for its resident to come out by: where that works both share a kernel.

#include "berth/task.hpp"
#include "os/unique_fd.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/local/stream_protocol.hpp>

#include <chrono>
#include <string>

namespace berth {

/// For one connection. The socket lies in a directory that only this user may enter, and may itself be used by all: whoever has it was
/// given it.
///
/// Life: it is gone from the file system once somebody came, and at the latest with this object.
class socket_offer {
 public:
  /// Errors: those of making it.
  explicit socket_offer(asio::any_io_executor executor);
  ~socket_offer();
  socket_offer(const socket_offer&) = delete;
  socket_offer& operator=(const socket_offer&) = delete;

  const std::string& path() const noexcept { return path_; }
  /// Who came, or none in this time. The offer must outlive it.
  task<unique_fd> wait(std::chrono::milliseconds time);

 private:
  task<void> accept(unique_fd& into);
  void withdraw() noexcept;

  std::string directory_;
  std::string path_;
  asio::local::stream_protocol::acceptor acceptor_;
};

/// Removes what the offers of killed programs left in the temporary directory: those of this user that are older than an hour, since an
/// offer lives for seconds. Blocks; what cannot be removed stays.
void remove_stale_offers() noexcept;

}  // namespace berth
