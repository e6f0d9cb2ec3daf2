#pragma once
/// `berth bench`: how fast this library is on this machine.

#include "cli/subcommand.hpp"

namespace berth::cli {

extern const std::string_view bench_help;

/// The task gives 0, or 1 where something failed.
task<int> bench_command(asio::io_context& io, words arguments);

}  // namespace berth::cli
