#pragma once
/// The sandbox of Linux: bubblewrap.

#include "isolation/plan.hpp"

#include <optional>
#include <string>
#include <vector>

namespace berth {

/// A plan as words for `bwrap --args`, in the order in which it mounts. What is started becomes process 1 of the sandbox.
/// `env` is all it gets ("NAME=VALUE"); the filter is read from the descriptor.
/// Errors: limit_exceeded where the environment has more variables than bwrap takes words.
std::vector<std::string> bwrap_arguments(const isolation_plan& plan, const std::vector<std::string>& env,
                                         std::optional<int> filter_fd);

/// Makes the directories of the private /tmp on which roots below /tmp and /var/tmp come to lie, so that bwrap makes nothing there:
/// before 0.12 it follows links. Goes through no link. Blocks.
///
/// A sandbox pins its own ones; new ones are safe for bwrap only while no command of the handle runs.
void make_mount_points(const isolation_plan& plan);

/// Their paths as seen, sorted.
std::vector<std::string> mount_points(const isolation_plan& plan);

}  // namespace berth
