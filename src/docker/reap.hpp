#pragma once
/// `reap_containers`, with a daemon and a machine that tests can choose.

#include "berth/docker_reap.hpp"
#include "core/json.hpp"
#include "docker/engine.hpp"
#include "docker/owner.hpp"

#include <memory>
#include <vector>

namespace berth {

/// From the answer to GET /containers/json. Errors: protocol.
std::vector<found_container> read_containers(const json& list, const owner_view& here);

/// Removes those whose owner is dead, unless it is a dry run.
task<std::vector<found_container>> reap_on(std::shared_ptr<docker_engine> engine, owner_view here, bool dry_run);

}  // namespace berth
