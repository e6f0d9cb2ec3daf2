#pragma once
/// The kinds of context that the contract is run against.

#include "contract/needs.hpp"

#include <berth/context.hpp>

#include <span>
#include <string>

namespace berth::contract {

/// What of the contract a kind has to pass.
enum class contract_scope { whole, files };

/// `name` is that of its test suite too; ./dev runs each as contract-NAME (meson.build has them).
struct place_kind {
  const char* name;
  /// In an empty directory of the case's own, or in its default one.
  context (*make)(asio::io_context& io, std::string cwd);
  contract_scope scope = contract_scope::whole;
  /// Why its commands can have no cgroup of their own; none where they are this host's.
  const char* without_cgroups = nullptr;
  /// Why it cannot be run here; empty where it can. None: it always can.
  std::string (*missing)() = nullptr;
  /// Whose the directory of a case is; 0: this user's.
  unsigned user = 0;
  /// What it cannot, besides what its capabilities say.
  needs lacks = needs::nothing;
  /// How much longer than others a case may take, where starts are slow.
  int patience = 1;
};

std::span<const place_kind> host_kinds();
std::span<const place_kind> docker_kinds();

/// The directory of the case that runs: a kind may have to bring it into its place.
const std::string& case_directory();

}  // namespace berth::contract
