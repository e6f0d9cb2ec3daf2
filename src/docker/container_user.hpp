#pragma once
/// Whose files a user of a container makes.

#include "berth/files.hpp"
#include "docker/container.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace berth {

struct container_user {
  std::int64_t user = 0;
  std::int64_t group = 0;

  bool operator==(const container_user&) const = default;
};

/// "name", "7", "name:group" or "7:8", as the Engine reads them, by the text of the container's own /etc/passwd and /etc/group;
/// empty: root. None for a name that they do not have.
std::optional<container_user> read_container_user(std::string_view wanted, std::string_view passwd,
                                                  std::string_view groups);

/// The same of a container, also before its start; empty: the user that its own processes have. (The Engine's `copyUIDGID` looks
/// a user up among those of the daemon's host.) Errors: not_found for one that it does not have, and those of the calls.
task<container_user> find_container_user(container box, std::string wanted);

/// A tar stream whose entries all belong to that user.
std::unique_ptr<byte_source> tar_owned_by(std::unique_ptr<byte_source> tar, container_user owner);

}  // namespace berth
