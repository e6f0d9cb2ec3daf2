#pragma once
/// A socket that is put into a container, for its resident to come out by: where that works both share a kernel.

#include "berth/task.hpp"
#include "os/scratch_directory.hpp"
#include "os/unique_fd.hpp"

#include <asio/any_io_executor.hpp>
#include <asio/local/stream_protocol.hpp>

#include <chrono>
#include <string>

namespace berth {

/// For one connection. The socket lies in a directory that only this user may enter, and may itself be used by all: whoever has it was
/// given it.
///
/// Life: once somebody came it is dead, but in the file system until the end of this object, which should be that of the container:
/// the daemon mounts what a container mounts once more for each `docker cp`. What killed owners left goes by `remove_stale_offers`.
class socket_offer {
 public:
  /// Errors: those of making it.
  explicit socket_offer(asio::any_io_executor executor);

  const std::string& path() const noexcept { return path_; }
  /// Who came, or none in this time; nobody can come after that. The offer must outlive it.
  task<unique_fd> wait(std::chrono::milliseconds time);

 private:
  task<void> accept(unique_fd& into);

  scratch_directory directory_;
  unique_fd lock_;  ///< of the directory, as long as its owner lives
  std::string path_;
  asio::local::stream_protocol::acceptor acceptor_;
};

/// Removes what the offers of killed programs of this user left in the temporary directory: nobody holds their locks any more. Blocks;
/// what cannot be removed stays.
void remove_stale_offers() noexcept;

}  // namespace berth
