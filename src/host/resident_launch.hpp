#pragma once
/// Starting the resident that the library carries, on this host.

#include "context/resident_channel.hpp"
#include "context/resident_image.hpp"
#include "os/helper_process.hpp"

#include <memory>
#include <string>
#include <vector>

namespace berth {

struct launched_resident {
  helper_process process;
  std::shared_ptr<resident_channel> channel;
};

/// Over a socket pair, with the given environment. It waits for a hello.
launched_resident launch_resident(asio::any_io_executor executor, const std::vector<std::string>& env);

}  // namespace berth
