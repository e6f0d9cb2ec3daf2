#pragma once
/// Our standard input as that of a command.

#include <berth/process.hpp>

namespace berth::cli {

/// Copies standard input to the command's, until ours ends (the command's then ends too) or the command reads no more. It never
/// fails: what cannot be read is told on standard error, and ends the command's input.
///
/// Life: the process stays alive for the whole await.
/// Cancel: ends the copying; what was read and not yet written is lost.
task<void> pump_stdin(process& command);

}  // namespace berth::cli
