#pragma once
/// A command of a resident as a backend's process.

#include "berth/backend.hpp"
#include "context/resident_session.hpp"
#include "os/cgroup_place.hpp"

#include <memory>
#include <string>
#include <vector>

namespace berth {

/// How the bytes of a command travel.
enum class resident_transport {
  handed,  ///< its pipes are handed over: only over a socket
  framed,
};

/// Starts a command and returns once it runs, or could not be started, or was lost.
/// `changes` of the environment go before the command's own; `place`, where there is one, is for its limits. Cancel: the command's
/// tree is killed.
task<std::unique_ptr<backend_process>> start_on_resident(std::shared_ptr<resident_session> session, command what,
                                                         std::shared_ptr<const std::vector<std::string>> changes,
                                                         resident_transport transport,
                                                         std::shared_ptr<const cgroup_place> place = nullptr);

}  // namespace berth
