#pragma once
/// Waiting for what is only seen by looking: each returns once it is so, or false when the time has passed.

#include <berth/task.hpp>

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::test {

task<void> pause_for(std::chrono::steady_clock::duration time);

task<bool> becomes_true(std::function<bool()> condition, std::chrono::milliseconds time = std::chrono::seconds(5));

/// A file appears and is not empty.
task<bool> file_appears(std::string path, std::chrono::milliseconds time = std::chrono::seconds(5));

/// None of these processes is alive any more; zombies are not.
task<bool> all_gone(std::vector<pid_t> pids, std::chrono::milliseconds time = std::chrono::seconds(2));

/// Those of them that are alive, as text for a failure message.
std::string alive_among(const std::vector<pid_t>& pids);

/// The numbers in the line "pids N N N" of an output.
std::vector<pid_t> pids_in(std::string_view output);

}  // namespace berth::test
