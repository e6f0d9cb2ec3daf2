#pragma once
/// `berth shell`: a terminal of a place in the terminal of the caller.

#include "cli/subcommand.hpp"

namespace berth::cli {

task<int> shell_command(asio::io_context& io, words arguments);

}  // namespace berth::cli
