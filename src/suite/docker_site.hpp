#pragma once
/// Where the benches of containers run: one daemon, one image, one container that they share.

#include "suite/warm_place.hpp"

#include <berth/bench.hpp>

#include <asio/io_context.hpp>

#include <memory>
#include <string>
#include <vector>

namespace berth::suite {

/// Filled in by `why_no_docker`, where it is not given.
struct docker_site {
  std::string image = {};      ///< never pulled
  std::string host = {};       ///< the daemon's address, for peers
  std::string container = {};  ///< the name of the container that benches and peers share while they run
  int opened = 0;              ///< how many had such a name
};
using shared_site = std::shared_ptr<docker_site>;

/// The rows of containers; none in a build without OpenSSL.
std::vector<bench::subject> docker_suite(asio::io_context& io, shared_site site);

/// Is it one of those that need a daemon?
bool needs_docker(const bench::subject& what);
/// Looks for a daemon and an image, and makes a container. Gives the reason in a line where that cannot be done, else nothing.
task<std::string> why_no_docker(asio::io_context& io, shared_site site);

}  // namespace berth::suite
