#pragma once
/// Asking a daemon what became of a container.

#include "context/resident_link.hpp"
#include "docker/container.hpp"

namespace berth {

/// The cause where nothing else is known of one that is no more.
inline constexpr const char* container_was_removed = "lost: the container was removed";

/// Why the container ended, as its daemon tells it within 3 s; an empty cause where it runs. That the daemon cannot be asked is a
/// cause too. Throws only when it is cancelled.
task<resident_end> explain_end(container box);

}  // namespace berth
