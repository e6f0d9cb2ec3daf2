#pragma once
/// What the help of every word that works in a place says of containers.

#include <array>
#include <cstddef>
#include <string_view>

namespace berth::cli {

/// Literals put together when this is compiled.
template <std::size_t... sizes>
constexpr auto joined(const char (&... parts)[sizes]) {
  std::array<char, (sizes + ...) - sizeof...(sizes)> whole{};
  std::size_t at = 0;
  const auto add = [&whole, &at](const char* part, std::size_t size) {
    for (std::size_t i = 0; i + 1 < size; ++i) whole[at++] = part[i];
  };
  (add(parts, sizes), ...);
  return whole;
}

template <std::size_t size>
constexpr std::string_view text_of_help(const std::array<char, size>& whole) {
  return {whole.data(), whole.size()};
}

/// All of them.
inline constexpr char container_options_help[] = R"(
In a container (Docker or Podman), which has none of our variables but those of -e and
--inherit-env; --cwd is absolute there, by default /workspace:
  --context KIND        docker, or process for this host (the default)
  --image IMAGE         a new one of this image, which is removed at the end; pulled where it is
                        missing; with --context docker alone it is oven/bun:latest
  --container NAME      this one, which runs already and stays
  -v, --volume SPEC     SOURCE:TARGET[:ro]: a path, or the volume of a name, is at TARGET in the
                        container; may be repeated, as the next three
  --mount SPEC          type=bind|volume|tmpfs,source=SOURCE,target=TARGET,readonly
  --tmpfs SPEC          TARGET[:size=64m]: an empty file system in memory
  -p, --publish SPEC    [ADDRESS:][PORT:]PORT-IN-CONTAINER; default address: 127.0.0.1
  -u, --user USER       name or UID[:GID]
  --network NAME        none, bridge, host, or a network of the daemon
  --read-only           the root file system cannot be written
  --label NAME=VALUE    on the container; may be repeated, as the next two
  --cap-drop CAP        without this capability, or ALL
  --security-opt OPT    no-new-privileges, seccomp=FILE
  --memory SIZE         most memory of the container: 512M, 2G
  --cpus N              most processor cores: 1.5
  --pids N              most processes, that of berth among them
  --name NAME           of the container
  --platform NAME       of the image: linux/amd64
  --pull WHEN           missing (the default), always or never
  --docker-host URL     the daemon; default: DOCKER_HOST, DOCKER_CONTEXT, the usual sockets
  --docker-context NAME
                        a context of the docker command
)";

/// For the words for files: the same, as far as it matters to them.
inline constexpr char container_files_help[] = R"(
In a container (Docker or Podman; more of its options stand in 'berth help exec'), where --cwd is
absolute, by default /workspace:
  --context KIND        docker, or process for this host (the default)
  --container NAME      one that runs
  --image IMAGE         a new one of this image, which is removed at the end with all that is in it,
                        but for what lies in volumes
  -v, --volume SPEC     SOURCE:TARGET[:ro]: a path, or the volume of a name, is at TARGET in the
                        container; may be repeated
  -u, --user USER       name or UID[:GID]
  --pull WHEN           missing (the default), always or never
  --docker-host URL     the daemon; default: DOCKER_HOST, DOCKER_CONTEXT, the usual sockets
  --docker-context NAME
                        a context of the docker command
)";

}  // namespace berth::cli
