#pragma once
/// What `berth exec` says on standard error about the end of a command.

#include "cli/exec_options.hpp"
#include "cli/json_events.hpp"

#include <chrono>
#include <string>

namespace berth::cli {

/// One line for each thing that the exit code alone does not tell; usually none.
void tell_end(const exec_options& options, const exec_summary& summary);

/// "1h30m", "1.5s": the same notation that the options take.
std::string duration_text(std::chrono::milliseconds time);

}  // namespace berth::cli
