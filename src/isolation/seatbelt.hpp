#pragma once
/// The sandbox of macOS as text. Nothing here has run on macOS: see docs/isolation.md.

#include "isolation/plan.hpp"

#include <string>
#include <vector>

namespace berth {

/// A profile for sandbox-exec. Every path is a parameter, so that none can be read as anything else.
std::string seatbelt_profile(const isolation_plan& plan);

/// The words that run a command under it, with the parameters: "/usr/bin/sandbox-exec" and so on. There are no mounts, so a private
/// /tmp is one more writable root, and the command is to be given its path as TMPDIR.
std::vector<std::string> seatbelt_arguments(const isolation_plan& plan, const std::vector<std::string>& command);

}  // namespace berth
