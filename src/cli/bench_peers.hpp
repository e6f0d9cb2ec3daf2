#pragma once
/// The peers of `berth bench --peers`: which there are, and which are missing.

#include "suite/suite.hpp"

#include <optional>
#include <string>
#include <vector>

namespace berth::cli {

struct found_peers {
  std::vector<suite::shared_peer> here;
  std::vector<suite::peer_program> missing;
};

/// Of this folder, or of the one that belongs to this program. Throws usage_error where there is none, or its list is bad.
found_peers find_peers(asio::io_context& io, const std::optional<std::string>& folder);

/// Adds what they do. Throws usage_error for a bench that is none for peers.
void add_peers(suite::subjects& all, const found_peers& peers, const suite::shared_site& site);

/// Why there is no bench of this name, where it is that of a peer; else empty.
std::string peer_words(const std::string& name, const found_peers& peers, bool asked);

/// A line on standard error for each missing one that would have been measured.
void name_missing(const found_peers& peers, const suite::subjects& chosen);

/// Adds the versions of those that ran.
void note_versions(bench::report& into, const found_peers& peers);

}  // namespace berth::cli
