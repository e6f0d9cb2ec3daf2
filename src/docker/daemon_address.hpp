#pragma once
/// Where the Docker daemon is.

#include "docker/surroundings.hpp"

#include <optional>
#include <string>
#include <vector>

namespace berth {

/// PEM texts; empty where there is none.
struct daemon_tls {
  std::string authority;
  std::string certificate;
  std::string key;
  bool verify = true;

  bool operator==(const daemon_tls&) const = default;
};

struct daemon_address {
  std::string url;   ///< unix:///run/docker.sock, tcp://host:2375, ssh://user@host:22/run/docker.sock
  std::string from;  ///< who said so, for messages: "DOCKER_HOST", "docker context 'x'"
  std::optional<daemon_tls> tls = {};

  bool operator==(const daemon_address&) const = default;
};

/// What is asked for; the rest comes from the surroundings.
struct daemon_choice {
  std::string host = {};     ///< as DOCKER_HOST has it
  std::string context = {};  ///< of the docker command
};

/// The daemons that may be meant, to be tried in this order. More than one only where nothing names one: then the sockets that are
/// there, Docker's before Podman's, the system's before the user's. Order and files are those of the docker command:
/// choice.host, choice.context, DOCKER_HOST, DOCKER_CONTEXT, `currentContext` of its config.json.
/// Errors: not_found for a context that is not there, saying which are; invalid_argument for a host that cannot be; protocol
///         for files that cannot be read as what they should be; unavailable where no socket is found, saying which were looked for.
std::vector<daemon_address> find_daemons(const daemon_choice& choice, const docker_surroundings& here);

}  // namespace berth
