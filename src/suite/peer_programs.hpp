#pragma once
/// Which programs in other languages can be measured here: bench/peers/README.md.

#include <string>
#include <vector>

namespace berth::suite {

/// A bench that a peer can do.
struct peer_work {
  std::string bench;  ///< "exec"
  double bar = 0;     ///< of ours against it; 0: only reported
};

struct peer_program {
  std::string name;    ///< "python-asyncio"
  std::string folder;  ///< in which it runs
  std::vector<std::string> run;
  std::vector<peer_work> works;
  std::string lacks;  ///< what is missing to run it, a phrase; empty where nothing is
};

/// What peers.json of the folder lists. Throws std::system_error where it cannot be read, berth::error where it is no such list.
std::vector<peer_program> peers_in(const std::string& folder);

/// The folder that belongs to this program: of its build, its source tree or its installation; empty where there is none.
std::string own_peers_folder();

/// Where that is looked for.
std::vector<std::string> own_peers_folders();

}  // namespace berth::suite
