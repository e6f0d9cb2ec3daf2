#include "cli/bench_peers.hpp"

#include "cli/subcommand.hpp"

#include <berth/error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace berth::cli {
namespace {

bool does(const suite::peer_program& what, const std::string& name) {
  return std::any_of(what.works.begin(), what.works.end(),
                     [&](const suite::peer_work& work) { return suite::row_of(work.bench, what.name).name == name; });
}

/// Of the folder of this program; a list that cannot be read is none.
std::vector<suite::peer_program> own_peers() {
  const auto folder = suite::own_peers_folder();
  if (folder.empty()) return {};
  try {
    return suite::peers_in(folder);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

found_peers find_peers(asio::io_context& io, const std::optional<std::string>& folder) {
  const auto where = folder.value_or(suite::own_peers_folder());
  if (where.empty()) {
    throw usage_error(
        fmt::format("--peers: there is no peers.json in any of {}; --peers-in FOLDER takes another folder",
                    fmt::join(suite::own_peers_folders(), ", ")));
  }
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

void add_peers(suite::subjects& all, const found_peers& peers, const suite::shared_site& site) {
  try {
    suite::add_peers(all, peers.here, site);
  } catch (const error& failure) {
    throw usage_error(failure.message());
  }
}

std::string peer_words(const std::string& name, const found_peers& peers, bool asked) {
  for (const auto& each : asked ? peers.missing : own_peers()) {
    if (!does(each, name)) continue;
    return asked ? fmt::format("{} cannot be measured: {}", name, each.lacks) : name + " is a peer: with --peers";
  }
  return "";
}

void name_missing(const found_peers& peers, const suite::subjects& chosen) {
  for (const auto& each : peers.missing) {
    const bool wanted = std::any_of(each.works.begin(), each.works.end(), [&](const suite::peer_work& work) {
      const auto ours = suite::row_of(work.bench, each.name).ours;
      return std::any_of(chosen.begin(), chosen.end(), [&](const bench::subject& one) { return one.name == ours; });
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
