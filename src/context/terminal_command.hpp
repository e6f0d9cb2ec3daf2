#pragma once
/// What runs in a terminal.

#include <berth/command.hpp>
#include <berth/terminal.hpp>

namespace berth {

/// The command that the options ask for, with its terminal; without one of their own the login shell of the place's user.
command terminal_command(const terminal_options& options);

}  // namespace berth
