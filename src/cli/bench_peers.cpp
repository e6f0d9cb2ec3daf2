#include "cli/bench_peers.hpp"

#include "cli/subcommand.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace berth::cli {

found_peers find_peers(asio::io_context& io, const std::optional<std::string>& folder) {
  const auto where = folder.value_or(suite::own_peers_folder());
  if (where.empty()) throw usage_error("--peers: there are none beside this program; --peers-in names their folder");
  found_peers found;
  try {
    for (auto& each : suite::peers_in(where)) {
      if (each.lacks.empty())
        found.here.push_back(std::make_shared<suite::peer>(io, std::move(each)));
      else
        found.missing.push_back(std::move(each));
    }
  } catch (const std::system_error& failure) {
    throw usage_error(fmt::format("{}: no folder of peers: {}", where, failure.what()));
  }
  return found;
}

void add_peers(suite::subjects& all, const found_peers& peers) {
  try {
    suite::add_peers(all, peers.here);
  } catch (const error& failure) {
    throw usage_error(failure.message());
  }
}

void name_missing(const found_peers& peers, const suite::subjects& chosen) {
  for (const auto& each : peers.missing) {
    const bool wanted = std::any_of(each.works.begin(), each.works.end(), [&](const suite::peer_work& work) {
      return std::any_of(chosen.begin(), chosen.end(),
                         [&](const bench::subject& one) { return one.name == work.bench + "/host"; });
    });
    if (!wanted) continue;
    print_error("bench", fmt::format("without {}: {}; ./dev bench --peers, or {}/install FOLDER, gets it", each.name,
                                     each.lacks, each.folder));
  }
}

void note_versions(bench::report& into, const found_peers& peers) {
  for (const auto& each : peers.here) {
    if (!each->version.empty()) into.machine.versions.emplace_back(each->program.name, each->version);
  }
}

}  // namespace berth::cli
