#pragma once
/// What `berth doctor` finds: each check looks at one thing of this machine.

#include <string>
#include <vector>

namespace berth::cli {

enum class health {
  ok,
  limited,  ///< Berth works, with less than it could
  broken,   ///< something that Berth promises does not work here
};

struct finding {
  std::string name = {};
  health state = health::ok;
  std::string detail = {};  ///< what was found
  std::string cure = {};    ///< what would mend it; empty where nothing is to be mended
};

/// The checks that need no running command. They block for some milliseconds.
std::vector<finding> examine_host();

}  // namespace berth::cli
