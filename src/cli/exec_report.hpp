#pragma once
/// What is said on standard error about the end of a command.

#include "cli/exec_options.hpp"
#include "cli/json_events.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cli {

/// For `berth exec`: one line for each thing that the exit code alone does not tell; usually none.
void tell_end(const exec_options& options, const exec_summary& summary);

/// A line for an end that the exit code alone does not tell, deadlines apart.
void tell_status(std::string_view subcommand, const exit_status& status);

void tell_survivors(std::string_view subcommand, const std::vector<survivor>& survivors);

/// "1h30m", "1.5s": the same notation that the options take.
std::string duration_text(std::chrono::milliseconds time);

}  // namespace berth::cli
