#pragma once
/// Rounds in which the owner is another program, which is killed. Each gives what was wrong, or nothing.

#include <string>

namespace berth::test {

/// Killed with 20 commands running.
std::string owner_killed(int number);
/// Killed somewhere in its start; the number says when.
std::string owner_killed_while_starting(int number);
/// Killed while a copy of it, forked without exec, holds all its descriptors.
std::string owner_forked_and_killed(int number);

}  // namespace berth::test
