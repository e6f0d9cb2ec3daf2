#pragma once
/// What the docker command takes as mounts and ports, read: text in, values out. Mistakes are usage_errors that name the option.

#include <berth/docker_context.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace berth::cli {

/// SOURCE:TARGET[:ro|rw] of --volume. A source with a slash is a path of the daemon's host, a relative one below our directory; another is
/// the name of a volume.
docker_mount volume_of(const std::string& text);

/// type=bind|volume|tmpfs,source=...,target=...[,readonly] of --mount.
docker_mount mount_of(const std::string& text);

/// TARGET[:size=64m,ro] of --tmpfs.
docker_mount tmpfs_of(const std::string& text);

/// [ADDRESS:][HOST:]CONTAINER[/tcp] of --publish. Without HOST the daemon chooses one.
docker_port port_of(const std::string& text);

/// NAME=VALUE of --label; NAME alone has an empty value.
std::pair<std::string, std::string> label_of(const std::string& text);

/// What --security-opt names: of a seccomp profile in a file its content. Blocks.
std::string security_option_of(const std::string& text);

/// In whole MiB, rounded up.
std::uint64_t mebibytes_of(std::uint64_t bytes);

}  // namespace berth::cli
