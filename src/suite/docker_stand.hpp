#pragma once
/// A container that stands for a group of benches, and the connection to its daemon.

#include "docker/engine.hpp"
#include "suite/docker_site.hpp"

#include <cstddef>
#include <memory>
#include <string>

namespace berth::suite {

struct docker_stand {
  docker_stand(asio::io_context& its_io, shared_site its_site);

  asio::io_context& io;
  shared_site site;
  shared_place warm;                      ///< the shared container, its pipes handed over
  std::shared_ptr<docker_engine> engine;  ///< while it is open
};
using shared_stand = std::shared_ptr<docker_stand>;

/// The daemon that the docker command would take.
task<std::shared_ptr<docker_engine>> connect_engine(asio::io_context& io);
/// One that the daemon has. Throws errc::not_found where it has not the one that is wished for, or none that is known to do.
task<std::string> find_bench_image(std::shared_ptr<docker_engine> engine, std::string wished);

enum class kind_of_container {
  own,     ///< which nobody knows by name
  shared,  ///< `docker_site::container`
  framed,  ///< over frames, as with a daemon that is far
};
shared_place container_place(asio::io_context& io, shared_site site, kind_of_container kind);

/// Makes both, or neither if they are there.
task<void> open_stand(shared_stand stand);
/// Ends both, if they are there.
task<void> close_stand(shared_stand stand);

// ---- the Engine's own ways, without a resident: microseconds of each ------------------------------------------------

/// exec create, start and inspect, for /bin/true.
task<double> engine_exec(shared_stand stand);
/// The same for `bytes` of zeros, taken out of their frames: MB/s.
task<double> engine_stream_rate(shared_stand stand, std::size_t bytes);
/// A file of this size as a tar, to `path` or from it.
task<double> archive_put(shared_stand stand, std::string name, std::size_t bytes);
task<double> archive_get(shared_stand stand, std::string name, std::size_t bytes);

/// In what directory of the container the files of the benches lie.
inline constexpr const char* container_files = "/workspace";

}  // namespace berth::suite
