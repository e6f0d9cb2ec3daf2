#pragma once
/// `berth doctor`: what works on this machine and what does not, with cause and cure.

#include "cli/subcommand.hpp"

namespace berth::cli {

extern const std::string_view doctor_help;

/// The task gives 0 where commands can run, else 1.
task<int> doctor_command(asio::io_context& io, words arguments);

}  // namespace berth::cli
