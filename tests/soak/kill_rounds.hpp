#pragma once
/// Ways in which running commands lose their owner, their deadline or their resident; afterwards nothing of them may be alive.

#include <span>
#include <string>

namespace berth::test {

struct kill_scenario {
  const char* name;
  /// One round; gives what was wrong, or nothing. Its number varies the moment where that matters.
  std::string (*round)(int number);
};

std::span<const kill_scenario> kill_scenarios();

}  // namespace berth::test
