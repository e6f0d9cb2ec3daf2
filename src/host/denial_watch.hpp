#pragma once
/// Looking at what a command in a sandbox prints, so that what it was denied can be told at its end.

#include "berth/backend.hpp"
#include "core/blocking.hpp"
#include "isolation/plan.hpp"

#include <memory>
#include <string>

namespace berth {

/// What a command in a sandbox may do.
struct denial_rules {
  isolation_settings settings = {};
  isolation_plan plan = {};
};

/// What must be known of it.
struct watched_command {
  output_stream stream = output_stream::std_err;  ///< that its complaints come on
  std::string cwd = {};
  std::shared_ptr<const denial_rules> rules = {};
};
/// Without rules.
watched_command watched_in(const command& what);

/// The same process, which answers backend_process::denied. The host is asked in the pool, at the end, and only where the output
/// holds a reason.
std::unique_ptr<backend_process> watch_for_denials(std::unique_ptr<backend_process> process, watched_command what,
                                                   std::shared_ptr<blocking_pool> pool);

}  // namespace berth
