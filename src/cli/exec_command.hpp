#pragma once
/// `berth exec`: one command on this host, its streams ours.

#include "cli/subcommand.hpp"

namespace berth::cli {

/// Throws usage_error. The task gives the exit code, having told on standard error what the code alone does not.
task<int> exec_command(asio::io_context& io, words arguments);

}  // namespace berth::cli
