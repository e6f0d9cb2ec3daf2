#pragma once
/// Commands of every kind that is hard to end. Each prints a line once all of it runs.

#include <berth/command.hpp>

#include <string>

namespace berth::test {

inline command mixed_command(int number) {
  const std::string child = BERTH_TEST_PROGRAMS "/child";
  switch (number % 8) {
    case 0:
      return "echo ready; exec sleep 280";
    case 1:
      return "sleep 281 & echo ready; wait";
    case 2:
      return "setsid sleep 282 & nohup sleep 283 >/dev/null 2>&1 & echo ready; wait";
    case 3:
      return argv(child, "tree", "stay");
    case 4:
      return "echo ready; kill -STOP $$";
    case 5:
      return "(sleep 284 & (env -i setsid sleep 285 &) ); echo ready; exec sleep 286";
    case 6:
      return argv(child, "ignore-term");
    default:
      return argv(child, "tree", "stay", "quiet");
  }
}

}  // namespace berth::test
