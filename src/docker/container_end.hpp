#pragma once
/// Asking a daemon what became of a container.

#include "context/resident_link.hpp"
#include "docker/container.hpp"

namespace berth {

/// Why the container ended, as its daemon tells it within 3 s; an empty cause where it runs. That the daemon cannot be asked is a
/// cause too. Throws only when it is cancelled.
task<resident_end> explain_end(container box);

/// Asked within 1 s. Throws only when it is cancelled.
task<bool> is_known_to_have_ended(container box);

}  // namespace berth
