#include "isolation/dangerous_sockets.hpp"

#include "core/paths.hpp"
#include "isolation/home.hpp"
#include "isolation/real_path.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace berth {
namespace {

namespace fs = std::filesystem;

void add(dangerous_sockets& found, const fs::path& path, fs::file_type wanted) {
  auto& to = wanted == fs::file_type::directory ? found.directories : found.sockets;
  found.looked_at.push_back(path.string());
  const auto real = real_path_if_there(path.string());
  std::error_code code;
  if (!real || fs::status(*real, code).type() != wanted) return;
  if (std::find(to.begin(), to.end(), *real) == to.end()) to.push_back(*real);
}

}  // namespace

dangerous_sockets find_dangerous_sockets() {
  dangerous_sockets found;
  for (const char* each : {"/run/user", "/run/WSL", "/tmp/.X11-unix", "/tmp/.ICE-unix"}) {
    add(found, each, fs::file_type::directory);
  }
  for (const char* each : {"/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock",
                           "/run/crio/crio.sock", "/run/buildkit/buildkitd.sock", "/run/dbus/system_bus_socket",
                           "/run/systemd/private", "/run/systemd/journal/stdout", "/run/libvirt/libvirt-sock",
                           "/run/lxd.socket", "/var/lib/lxd/unix.socket", "/run/snapd.socket", "/run/acpid.socket"}) {
    add(found, each, fs::file_type::socket);
  }
  const std::string home = home_directory();
  for (const char* each :
       {"/.docker/run/docker.sock", "/.docker/desktop/docker.sock", "/.gnupg/S.gpg-agent", "/.gnupg/S.gpg-agent.ssh"}) {
    if (!home.empty()) add(found, home + each, fs::file_type::socket);
  }
  const char* agent = std::getenv("SSH_AUTH_SOCK");
  if (agent != nullptr && *agent == '/') add(found, agent, fs::file_type::socket);
  std::erase_if(found.sockets, [&found](const std::string& each) { return directory_of(each, found.directories); });
  return found;
}

const std::vector<std::string>& socket_variables() {
  static const std::vector<std::string> names{
      "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "SSH_AUTH_SOCK", "GPG_AGENT_INFO", "DISPLAY",
      "WAYLAND_DISPLAY",          "XDG_RUNTIME_DIR",         "DOCKER_HOST",   "CONTAINER_HOST", "WSL_INTEROP"};
  return names;
}

}  // namespace berth
