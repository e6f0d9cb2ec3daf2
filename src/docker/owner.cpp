#include "docker/owner.hpp"

#include "berth/error.hpp"
#include "core/syscall.hpp"
#include "os/whole_file.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <system_error>

namespace berth {
namespace {

constexpr std::string_view prefix = "berth.owner.";

std::string line_of(const char* path) {
  std::string text = whole_file(path, 4096);
  text.resize(std::min(text.size(), text.find('\n')));
  return text;
}

std::string machine_id() {
  try {
    return line_of("/etc/machine-id");
  } catch (const std::system_error&) {
    return {};  // containers have none
  }
}

std::string host_name() {
  char name[256] = {};
  check_syscall(::gethostname(name, sizeof name - 1), "the name of this machine");
  return name;
}

std::string pid_namespace() {
  char name[64] = {};
  const auto size = check_syscall(::readlink("/proc/self/ns/pid", name, sizeof name - 1), "/proc/self/ns/pid");
  return {name, static_cast<std::size_t>(size)};
}

std::string random_key() {
  constexpr std::string_view digits = "0123456789abcdef";
  unsigned char bytes[8];
  check_syscall(::getrandom(bytes, sizeof bytes, 0), "random bytes");
  std::string text;
  for (const unsigned char each : bytes) {
    text += digits[each >> 4U];
    text += digits[each & 15U];
  }
  return text;
}

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const std::string* find_label(const docker_labels& labels, std::string_view name) {
  for (const auto& [label, value] : labels) {
    if (label.starts_with(prefix) && std::string_view(label).substr(prefix.size()) == name) return &value;
  }
  return nullptr;
}

}  // namespace

std::optional<std::uint64_t> start_of_process(std::int64_t pid) {
  constexpr int fields_before = 19;  // of what follows the name
  std::string text;
  try {
    text = whole_file("/proc/" + std::to_string(pid) + "/stat", 4096);
  } catch (const std::system_error&) {
    return std::nullopt;
  }
  // The name may hold blanks and parentheses.
  std::string_view rest = text;
  rest.remove_prefix(std::min(rest.size(), rest.rfind(')') + 2));
  for (int i = 0; i < fields_before; ++i) rest.remove_prefix(std::min(rest.size(), rest.find(' ') + 1));
  return number_in<std::uint64_t>(rest.substr(0, rest.find(' ')));
}

owner_identity this_owner() {
  owner_identity self;
  self.host = machine_id() + "/" + host_name();
  self.boot = line_of("/proc/sys/kernel/random/boot_id");
  self.namespace_ = pid_namespace();
  self.pid = ::getpid();
  const auto started = start_of_process(self.pid);
  if (!started) throw error(make_error_code(errc::unavailable), "/proc says nothing of this process");
  self.started = *started;
  self.key = random_key();
  return self;
}

docker_labels labels_of(const owner_identity& owner) {
  const std::string all(prefix);
  return {{owner_label, owner.key},
          {all + "host", owner.host},
          {all + "boot", owner.boot},
          {all + "namespace", owner.namespace_},
          {all + "pid", std::to_string(owner.pid)},
          {all + "started", std::to_string(owner.started)}};
}

std::optional<owner_identity> read_owner(const docker_labels& labels) {
  owner_identity found;
  bool is_ours = false;
  for (const auto& [label, value] : labels) {
    if (label != owner_label) continue;
    found.key = value;
    is_ours = true;
  }
  const std::string* host = find_label(labels, "host");
  const std::string* boot = find_label(labels, "boot");
  const std::string* names = find_label(labels, "namespace");
  const std::string* pid = find_label(labels, "pid");
  const std::string* started = find_label(labels, "started");
  if (!is_ours || !host || !boot || !names || !pid || !started) return std::nullopt;
  const auto pid_number = number_in<std::int64_t>(*pid);
  const auto start_number = number_in<std::uint64_t>(*started);
  if (!pid_number || !start_number || *pid_number <= 0) return std::nullopt;
  found.host = *host;
  found.boot = *boot;
  found.namespace_ = *names;
  found.pid = *pid_number;
  found.started = *start_number;
  return found;
}

owner_state state_of(const owner_identity& owner, const owner_view& here) {
  if (owner.boot != here.self.boot) return owner.host == here.self.host ? owner_state::dead : owner_state::unknown;
  if (owner.namespace_ != here.self.namespace_) return owner_state::unknown;
  return here.started(owner.pid) == owner.started ? owner_state::alive : owner_state::dead;
}

}  // namespace berth
