#pragma once
/// Our standard input as that of a command.

#include <berth/process.hpp>

#include <string>

namespace berth::cli {

/// Copies standard input to the command's, until ours ends (true) or the command reads no more (false). It reads no further while the
/// command has not taken what was read. It never fails: what cannot be read is told on standard error in the name of the
/// subcommand, and counts as the end.
///
/// Life: the process stays alive for the whole await.
/// Cancel: ends the copying; what was read and not yet written is lost.
task<bool> copy_stdin(process& command, std::string subcommand);

/// The same, and the end of ours is the end of the command's. While we are in the background, nothing is read.
task<void> pump_stdin(process& command);

}  // namespace berth::cli
