#include "docker/container_spec.hpp"

#include "berth/error.hpp"
#include "core/shown_path.hpp"

#include <asio/ip/address.hpp>

#include <algorithm>
#include <limits>

namespace berth {
namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;
constexpr std::uint64_t most_mebibytes = std::numeric_limits<std::int64_t>::max() / mebibyte;
constexpr std::int64_t whole_core = 1'000'000'000;

[[noreturn]] void refuse_option(const std::string& what) {
  throw error(make_error_code(errc::invalid_argument), "docker context: " + what);
}

bool is_digit_char(char c) noexcept { return c >= '0' && c <= '9'; }

json_array texts(const std::vector<std::string>& all) {
  json_array made;
  for (const std::string& each : all) made.emplace_back(each);
  return made;
}

std::string port_key(std::uint16_t port) { return std::to_string(port) + "/tcp"; }

/// One port of a container can be offered at several.
json_array port_bindings(const std::vector<docker_port>& ports, std::uint16_t of) {
  json_array all;
  for (const docker_port& each : ports) {
    if (each.container != of) continue;
    json_object binding;
    binding.set("HostIp", each.address);
    binding.set("HostPort", each.host == 0 ? std::string() : std::to_string(each.host));
    all.emplace_back(std::move(binding));
  }
  return all;
}

/// Of a bind mount or a volume.
json mount_spec(const docker_mount& mount) {
  json_object spec;
  spec.set("Target", mount.target);
  if (mount.read_only) spec.set("ReadOnly", true);
  spec.set("Type", mount.kind == mount_kind::bind ? "bind" : "volume");
  spec.set("Source", mount.source);
  return spec;
}

json_array mount_specs(const docker_context_options& options, const container_fittings& fittings) {
  json_array all;
  for (const docker_mount& each : options.mounts) {
    // A tmpfs of the daemon forbids programs unless told otherwise, and `Mounts` cannot tell it.
    if (each.kind != mount_kind::tmpfs) all.push_back(mount_spec(each));
  }
  if (!fittings.volume.empty()) all.emplace_back(json_object{{"Type", "volume"}, {"Target", fittings.volume}});
  if (!fittings.socket_directory.empty()) {
    docker_mount socket;
    socket.source = fittings.socket_directory;
    socket.target = fittings.socket_target;
    all.push_back(mount_spec(socket));
  }
  return all;
}

json_object tmpfs_specs(const std::vector<docker_mount>& mounts) {
  json_object all;
  for (const docker_mount& each : mounts) {
    if (each.kind != mount_kind::tmpfs) continue;
    std::string words = each.read_only ? "ro,exec" : "rw,exec";
    if (each.size_mb) words += ",size=" + std::to_string(*each.size_mb) + "m";
    all.set(each.target, words);
  }
  return all;
}

json_object host_config(const docker_context_options& options, const container_fittings& fittings) {
  json_object host;
  if (options.limits.memory_mb) {
    host.set("Memory", *options.limits.memory_mb * mebibyte);
    host.set("MemorySwap", *options.limits.memory_mb * mebibyte);
  }
  if (!options.limits.cpu.empty()) host.set("NanoCpus", read_cpu(options.limits.cpu));
  if (options.limits.pids) host.set("PidsLimit", *options.limits.pids);
  host.set("Mounts", mount_specs(options, fittings));
  if (json_object tmpfs = tmpfs_specs(options.mounts); !tmpfs.empty()) host.set("Tmpfs", std::move(tmpfs));
  json_object bindings;
  for (const docker_port& each : options.ports)
    bindings.set(port_key(each.container), port_bindings(options.ports, each.container));
  if (!bindings.empty()) host.set("PortBindings", std::move(bindings));
  if (!options.network.empty()) host.set("NetworkMode", options.network);
  if (options.read_only) host.set("ReadonlyRootfs", true);
  if (!options.cap_drop.empty()) host.set("CapDrop", texts(options.cap_drop));
  if (!options.security_opt.empty()) host.set("SecurityOpt", texts(options.security_opt));
  if (fittings.init) host.set("Init", true);
  host.set("AutoRemove", fittings.auto_remove);
  // What the first process prints is our own protocol.
  host.set("LogConfig", json_object{{"Type", "none"}});
  return host;
}

void check_mount(const docker_mount& mount) {
  const std::string shown = "mount at " + shown_path(mount.target);
  if (!mount.target.starts_with('/') || mount.target == "/")
    refuse_option(shown + ": the target must be an absolute path below /");
  if (mount.size_mb.value_or(0) > most_mebibytes) refuse_option(shown + ": its size must be bytes in 63 bits");
  if (mount.kind == mount_kind::tmpfs) {
    if (!mount.source.empty()) refuse_option(shown + ": a tmpfs has no source");
    if (mount.target.find(',') != mount.target.npos) refuse_option(shown + ": no comma can be in it");
    return;
  }
  if (mount.source.empty()) refuse_option(shown + ": it needs a source");
  if (mount.kind == mount_kind::bind && !mount.source.starts_with('/'))
    refuse_option(shown + ": the source must be an absolute path on the daemon's host");
  if (mount.size_mb) refuse_option(shown + ": only a tmpfs has a size");
}

/// Of what it cannot read a daemon makes all addresses that there are, and opens the port to the network.
void check_port(const docker_port& port) {
  if (port.container == 0) refuse_option("ports: a port of the container is 0");
  std::error_code failed;
  asio::ip::make_address(port.address, failed);
  if (failed || port.address.find('%') != port.address.npos)
    refuse_option("ports: " + shown_path(port.address) + " is no address; \"127.0.0.1\" and \"0.0.0.0\" are");
}

void check_made_one(const docker_context_options& options) {
  const docker_context_options none;
  const bool set = options.image != none.image || !options.mounts.empty() || !options.ports.empty() ||
                   !options.network.empty() || !options.platform.empty() || options.read_only ||
                   !options.cap_drop.empty() || !options.security_opt.empty() || !options.labels.empty() ||
                   !options.name.empty() || options.limits.memory_mb || options.limits.pids ||
                   !options.limits.cpu.empty();
  if (set)
    refuse_option(
        "`container` is there already: image, mounts, ports, network, platform, read_only, cap_drop, "
        "security_opt, labels, name and limits cannot be set");
}

bool is_container_name(const std::string& name) noexcept {
  const auto fits = [](char c) {
    return is_digit_char(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.' || c == '-';
  };
  const bool begins = !name.empty() && fits(name[0]) && name[0] != '_' && name[0] != '.' && name[0] != '-';
  return begins && name.size() > 1 && std::all_of(name.begin(), name.end(), fits);
}

}  // namespace

std::int64_t read_cpu(std::string_view text) {
  std::int64_t value = 0;
  std::int64_t scale = whole_core;
  bool point = false;
  bool any = false;
  for (const char c : text) {
    if (c == '.' && !point) {
      point = true;
      continue;
    }
    if (!is_digit_char(c) || scale == 1 || value > std::numeric_limits<std::int64_t>::max() / 100)
      refuse_option("cpu: cores are written as in \"1.5\"");
    any = true;
    value = value * 10 + (c - '0');
    if (point) scale /= 10;
  }
  if (!any || value == 0 || value > std::numeric_limits<std::int64_t>::max() / scale)
    refuse_option("cpu: cores are written as in \"1.5\", and more than 0");
  return value * scale;
}

void check_docker_options(const docker_context_options& options) {
  if (!options.cwd.empty() && !options.cwd.starts_with('/')) refuse_option("cwd must be absolute");
  if (options.lease < std::chrono::seconds(1)) refuse_option("lease must be at least 1 s");
  if (!options.host.empty() && !options.docker_context.empty())
    refuse_option("host and docker_context exclude each other");
  if (!options.container.empty()) return check_made_one(options);
  if (options.image.empty()) refuse_option("image is empty");
  if (!options.name.empty() && !is_container_name(options.name))
    refuse_option("name " + shown_path(options.name) + ": letters, digits, and then _ . - too; at least two");
  if (!options.limits.cpu.empty()) (void)read_cpu(options.limits.cpu);
  constexpr std::uint64_t least_memory = 6;  // of the daemon
  const std::uint64_t memory = options.limits.memory_mb.value_or(least_memory);
  if (memory < least_memory || memory > most_mebibytes)
    refuse_option("memory_mb must be at least 6, and bytes in 63 bits");
  if (options.limits.pids == 0U) refuse_option("pids must be at least 1");
  for (const docker_mount& each : options.mounts) check_mount(each);
  for (const docker_port& each : options.ports) check_port(each);
}

json container_spec(const docker_context_options& options, const container_fittings& fittings) {
  json_object spec;
  spec.set("Image", options.image);
  if (!fittings.entrypoint.empty()) {
    spec.set("Entrypoint", texts(fittings.entrypoint));
    spec.set("Cmd", json_array());
  }
  spec.set("WorkingDir", options.cwd.empty() ? default_docker_cwd : options.cwd);
  json_array env;
  for (const auto& [name, value] : options.env) env.emplace_back(name + "=" + value);
  if (!env.empty()) spec.set("Env", std::move(env));
  if (!options.user.empty()) spec.set("User", options.user);
  json_object labels;
  for (const auto* list : {&options.labels, &fittings.labels}) {
    for (const auto& [name, value] : *list) labels.set(name, value);
  }
  spec.set("Labels", std::move(labels));
  json_object ports;
  for (const docker_port& each : options.ports) ports.set(port_key(each.container), json_object());
  if (!ports.empty()) spec.set("ExposedPorts", std::move(ports));
  spec.set("OpenStdin", fittings.stdin_open);
  if (fittings.stdin_once) spec.set("StdinOnce", true);
  spec.set("HostConfig", host_config(options, fittings));
  return spec;
}

}  // namespace berth
