#pragma once
/// Starting the sandbox that a site has prepared.

#include "berth/error.hpp"
#include "host/resident_launch.hpp"
#include "isolation/plan.hpp"
#include "os/unique_fd.hpp"

#include <asio/any_io_executor.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace berth {

/// The number that the filter of system calls has in bwrap.
constexpr int filter_in_bwrap = 5;

/// All that bwrap is given, made before it starts.
struct prepared_sandbox {
  std::string program;
  isolation_plan plan;
  std::uint64_t number = 0;  ///< of the plan: see isolation_site::look
  unique_fd arguments;
  unique_fd filter;
  unique_fd complaints;                   ///< what bwrap writes to standard error
  unique_fd mounts;                       ///< the table of mounts inside, before any command
  unique_fd namespace_in, namespace_out;  ///< a connection for that which they are in
  std::vector<std::string> warnings;      ///< for the log
};

/// The line for the caller of a command that no sandbox can be had for.
[[noreturn]] void fail_start(const std::string& why);

/// Starts bwrap with the resident in it, as process 1 of the sandbox. It waits for a hello.
/// Errors: start_failed, one line for the caller of a command, where bwrap cannot be executed.
launched_resident launch_isolated(asio::any_io_executor executor, const prepared_sandbox& sandbox);

/// What bwrap has mounted against the plan, once the resident has answered; empty if nothing differs. Somebody may have moved
/// directories meanwhile. From then on nothing that this host mounts appears in the sandbox. Blocks.
std::string find_wrong_mount(const prepared_sandbox& sandbox);

/// The line for the caller of a command, from what bwrap wrote, or where it wrote nothing from how the launch failed. Blocks.
std::string explain_failure(const prepared_sandbox& sandbox, const error& failure);

}  // namespace berth
