#include "cli/container_specs.hpp"

#include "cli/subcommand.hpp"
#include "os/whole_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts(1);
  for (const char c : text) {
    if (c == at)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

[[noreturn]] void refuse(std::string_view option, const std::string& text, std::string_view why) {
  throw usage_error(fmt::format("{} {}: {}", option, text, why));
}

/// A path of ours as the daemon, which runs elsewhere, has to hear it. Docker takes what has a slash for a path.
std::string bind_source(const std::string& source) {
  if (source.starts_with('/')) return source;
  std::error_code code;
  const fs::path here = fs::current_path(code);
  std::string whole = (here / source).lexically_normal().string();
  while (whole.size() > 1 && whole.back() == '/') whole.pop_back();
  return whole;
}

/// Units as docker has them: bytes, or b, k, m, g.
std::optional<std::uint64_t> bytes_in(std::string_view text) {
  constexpr std::string_view units = "bkmg";
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr == text.data()) return std::nullopt;
  if (read.ptr == end) return number;
  const auto unit = units.find(static_cast<char>(*read.ptr | 0x20));
  if (unit == units.npos || read.ptr + 1 != end) return std::nullopt;
  const auto shift = 10 * static_cast<unsigned>(unit);
  if (number > (~std::uint64_t{0} >> shift)) return std::nullopt;
  return number << shift;
}

std::uint64_t tmpfs_size(std::string_view option, const std::string& text, std::string_view size) {
  const auto bytes = bytes_in(size);
  if (!bytes || *bytes == 0) refuse(option, text, fmt::format("'{}' is no size such as 64m or 1g", size));
  return mebibytes_of(*bytes);
}

std::optional<std::uint16_t> port_in(std::string_view text) {
  std::uint16_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return number;
}

/// 127.0.0.1 or [::1], and no port behind.
bool is_address(std::string_view text) {
  if (text.starts_with('[')) return text.ends_with(']');
  return text.find('.') != text.npos && text.find(':') == text.npos;
}

bool truth_of(const std::string& text, std::string_view value) {
  if (value.empty() || value == "true" || value == "1") return true;
  if (value != "false" && value != "0") refuse("--mount", text, fmt::format("'{}' is neither true nor false", value));
  return false;
}

mount_kind kind_of(const std::string& text, std::string_view value) {
  if (value == "bind") return mount_kind::bind;
  if (value == "volume") return mount_kind::volume;
  if (value != "tmpfs") refuse("--mount", text, fmt::format("type {}: there are bind, volume and tmpfs", value));
  return mount_kind::tmpfs;
}

void set_member(docker_mount& mount, const std::string& text, std::string_view key, std::string_view value) {
  if (key == "type")
    mount.kind = kind_of(text, value);
  else if (key == "source" || key == "src")
    mount.source = value;
  else if (key == "target" || key == "destination" || key == "dst")
    mount.target = value;
  else if (key == "readonly" || key == "ro")
    mount.read_only = truth_of(text, value);
  else if (key == "tmpfs-size")
    mount.size_mb = tmpfs_size("--mount", text, value);
  else
    refuse("--mount", text, fmt::format("'{}' is not known: type, source, target, readonly and tmpfs-size are", key));
}

void require_target(std::string_view option, const std::string& text, const docker_mount& mount) {
  if (!mount.target.starts_with('/') || mount.target == "/")
    refuse(option, text, "where it is to be in the container must be an absolute path below /");
}

}  // namespace

docker_mount volume_of(const std::string& text) {
  const auto parts = split(text, ':');
  if (parts.size() < 2)
    refuse("--volume", text, "write SOURCE:TARGET, where SOURCE is a path or the name of a volume; --tmpfs needs none");
  if (parts.size() > 3) refuse("--volume", text, "more than SOURCE:TARGET:ro; --mount takes paths with a colon");
  docker_mount mount;
  const bool is_path = parts[0].find('/') != std::string::npos || parts[0].starts_with('.');
  mount.kind = is_path ? mount_kind::bind : mount_kind::volume;
  mount.source = is_path ? bind_source(parts[0]) : parts[0];
  mount.target = parts[1];
  if (mount.source.empty()) refuse("--volume", text, "the source is empty");
  require_target("--volume", text, mount);
  if (parts.size() == 3 && parts[2] != "ro" && parts[2] != "rw")
    refuse("--volume", text, fmt::format("'{}' is neither ro nor rw", parts[2]));
  mount.read_only = parts.size() == 3 && parts[2] == "ro";
  return mount;
}

docker_mount mount_of(const std::string& text) {
  docker_mount mount;
  mount.kind = mount_kind::volume;  // as docker has it
  for (const auto& each : split(text, ',')) {
    const auto equals = std::min(each.find('='), each.size());
    const std::string value = each.substr(std::min(equals + 1, each.size()));
    set_member(mount, text, each.substr(0, equals), value);
  }
  require_target("--mount", text, mount);
  if (mount.kind == mount_kind::bind && !mount.source.empty()) mount.source = bind_source(mount.source);
  if (mount.kind == mount_kind::tmpfs && !mount.source.empty()) refuse("--mount", text, "a tmpfs has no source");
  if (mount.kind != mount_kind::tmpfs && mount.source.empty()) refuse("--mount", text, "it needs source=");
  if (mount.kind != mount_kind::tmpfs && mount.size_mb) refuse("--mount", text, "only a tmpfs has a size");
  return mount;
}

docker_mount tmpfs_of(const std::string& text) {
  docker_mount mount;
  mount.kind = mount_kind::tmpfs;
  const auto colon = std::min(text.find(':'), text.size());
  mount.target = text.substr(0, colon);
  require_target("--tmpfs", text, mount);
  if (colon == text.size()) return mount;
  for (const auto& each : split(text.substr(colon + 1), ',')) {
    if (each == "ro")
      mount.read_only = true;
    else if (each.starts_with("size="))
      mount.size_mb = tmpfs_size("--tmpfs", text, each.substr(5));
    else if (each != "rw" && each != "exec")
      refuse("--tmpfs", text, fmt::format("'{}' is not known: size=64m, ro and rw are", each));
  }
  return mount;
}

docker_port port_of(const std::string& text) {
  std::string rest = text;
  const auto slash = rest.find('/');
  if (slash != std::string::npos) {
    if (rest.substr(slash) != "/tcp") refuse("--publish", text, "only tcp can be published");
    rest.resize(slash);
  }
  docker_port port;
  const auto last = rest.rfind(':');
  const auto container = port_in(last == std::string::npos ? rest : rest.substr(last + 1));
  rest.resize(last == std::string::npos ? 0 : last);
  // What is left: HOST, ADDRESS, ADDRESS:HOST or ADDRESS:; an address may be [::1].
  if (is_address(rest)) rest += ':';
  const auto colon = rest.rfind(':');
  const std::string host = colon == std::string::npos ? rest : rest.substr(colon + 1);
  const auto number = host.empty() ? std::optional<std::uint16_t>(0) : port_in(host);
  if (colon != std::string::npos) port.address = rest.substr(0, colon);
  if (port.address.starts_with('[') && port.address.ends_with(']'))
    port.address = port.address.substr(1, port.address.size() - 2);
  if (!container || *container == 0 || !number || port.address.empty())
    refuse("--publish", text,
           "write CONTAINER, HOST:CONTAINER, ADDRESS:CONTAINER or ADDRESS:HOST:CONTAINER, one port each");
  port.container = *container;
  port.host = *number;
  return port;
}

std::pair<std::string, std::string> label_of(const std::string& text) {
  const auto equals = std::min(text.find('='), text.size());
  if (equals == 0) throw usage_error(fmt::format("--label {}: it has no name", text));
  return {text.substr(0, equals), text.substr(std::min(equals + 1, text.size()))};
}

std::string security_option_of(const std::string& text) {
  constexpr std::string_view seccomp = "seccomp=";
  if (!text.starts_with(seccomp)) return text;
  const std::string value = text.substr(seccomp.size());
  if (value == "unconfined" || value == "builtin" || value.starts_with('{')) return text;
  try {
    return std::string(seccomp) + whole_file(value);  // the daemon cannot read our files
  } catch (const std::system_error& failure) {
    throw usage_error(fmt::format("--security-opt {}: {}", text, failure.code().message()));
  }
}

std::uint64_t mebibytes_of(std::uint64_t bytes) { return bytes / mebibyte + (bytes % mebibyte == 0 ? 0 : 1); }

}  // namespace berth::cli
