#pragma once
/// Rounds in which commands of this program end: by deadline, cancel, kill, drop, destroy, or with their resident. Each gives what
/// was wrong, or nothing.

#include <string>

namespace berth::test {

std::string ended_by_deadline(int number);
std::string ended_by_cancel(int number);
std::string ended_by_kill(int number);
std::string ended_by_drop(int number);
std::string ended_by_destroy(int number);
std::string ended_by_end_of_context(int number);

std::string resident_killed(int number);
std::string resident_stopped(int number);
std::string resident_killed_by_a_command(int number);
std::string resident_stopped_by_a_command(int number);

}  // namespace berth::test
