#pragma once
/// `berth reap`: containers whose owner was killed.

#include "cli/subcommand.hpp"

namespace berth::cli {

extern const std::string_view reap_help;

/// The task gives 0, or 1 where a container could not be removed.
task<int> reap_command(asio::io_context& io, words arguments);

}  // namespace berth::cli
