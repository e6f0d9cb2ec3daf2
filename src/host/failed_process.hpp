#pragma once
/// A command that never ran.

#include "berth/backend.hpp"

#include <memory>

namespace berth {

/// Gives process_exited with the status, then streams_ended.
std::unique_ptr<backend_process> make_failed_process(exit_status why);

}  // namespace berth
