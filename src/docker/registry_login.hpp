#pragma once
/// Who pulls: what the docker command has stored about a registry.

#include "docker/surroundings.hpp"

#include <optional>
#include <string>

namespace berth {

/// Either a user with a password, or a token of an identity. Never in a message.
struct registry_login {
  std::string user = {};
  std::string password = {};
  std::string identity_token = {};

  bool operator==(const registry_login&) const = default;
};

/// Where the login for a registry is to be found.
struct login_source {
  /// Found as it is; empty where there is none, or a helper has it.
  std::optional<registry_login> login = {};
  /// The program docker-credential-NAME that knows; empty: none.
  std::string helper = {};
  /// What the registry is called there: for the helper's standard input, and `serveraddress`.
  std::string server = {};
  /// For messages: which file or variable was believed.
  std::string from = {};
};

/// Looks in DOCKER_AUTH_CONFIG (one document as config.json is), then in config.json: `credHelpers` of the registry, `credsStore`,
/// `auths`. A registry is found with and without scheme and path; that of Docker Hub is called "https://index.docker.io/v1/".
/// `registry` as image_reference has it. Blocks. Errors: protocol naming the file, for one that is no JSON or an `auth` that
///         cannot be read.
login_source find_registry_login(const std::string& registry, const docker_surroundings& here);

/// Where a login that was refused came from, or that there was none, and how to store another.
std::string story_of(const login_source& source, const std::string& registry);

/// The answer of a helper to `get`. Errors: protocol.
registry_login read_helper_answer(const std::string& text);
/// Does a helper that failed say no more than that it has nothing?
bool says_not_found(const std::string& output) noexcept;

/// The value of X-Registry-Auth: base64url of JSON.
std::string registry_auth_header(const registry_login& login, const std::string& server);

}  // namespace berth
