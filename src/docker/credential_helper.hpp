#pragma once
/// The programs in which the docker command keeps logins.

#include "berth/task.hpp"
#include "docker/registry_login.hpp"

#include <chrono>
#include <optional>
#include <string>

namespace berth {

/// Where docker-credential-NAME is in this PATH; empty where it is not.
std::string find_credential_helper(const std::string& name, const std::string& path);

/// Runs `PROGRAM get` with the server's name on its standard input. Nothing where it has no login.
/// Errors: start_failed; unavailable with what it printed, for one that fails; timeout, and it is killed; protocol for an answer that is
///         none. Cancel: kills it.
task<std::optional<registry_login>> ask_credential_helper(std::string program, std::string server,
                                                          std::chrono::milliseconds time = std::chrono::seconds(30));

}  // namespace berth
