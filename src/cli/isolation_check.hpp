#pragma once
/// What `berth doctor` finds out about kernel sandboxes.

#include "cli/diagnosis.hpp"

#include <berth/task.hpp>

#include <asio/io_context.hpp>

#include <string_view>
#include <vector>

namespace berth::cli {

/// Makes a sandbox as `berth exec --isolate` does, in an empty directory, and runs a command in it. Within some seconds.
task<std::vector<finding>> examine_isolation(asio::io_context& io);

/// From the line with which a command ends that has no sandbox.
finding without_sandbox(std::string_view message);

/// From what `bwrap --version` prints.
finding bwrap_version(std::string_view printed, std::string_view program);

}  // namespace berth::cli
