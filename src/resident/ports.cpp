#include "resident/ports.hpp"

#include "wire/messages.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

namespace berth::resident {
namespace {

// Bounds, so that one answer keeps no other command waiting for long.
constexpr std::size_t most_listeners = 8192;
constexpr int most_descriptors = 65536;
constexpr int most_namespaces = 64;
/// The kernel lists sockets that listen first; connections follow, and there may be a great many.
constexpr int most_reads_without_listener = 16;

struct listener {
  std::uint64_t inode;
  std::uint32_t port;
};

int by_inode(const void* a, const void* b) {
  const auto& one = *static_cast<const listener*>(a);
  const auto& other = *static_cast<const listener*>(b);
  return one.inode < other.inode ? -1 : one.inode > other.inode ? 1 : 0;
}

std::string_view next_word(std::string_view& line) {
  while (!line.empty() && line.front() == ' ') line.remove_prefix(1);
  std::size_t size = 0;
  while (size < line.size() && line[size] != ' ') ++size;
  const std::string_view word(line.data(), size);
  line.remove_prefix(size);
  return word;
}

std::uint64_t number(std::string_view digits, unsigned base) {
  std::uint64_t n = 0;
  for (const char c : digits) n = n * base + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
  return n;
}

/// "sl local_address rem_address st tx:rx tr:when retrnsmt uid timeout inode ...", addresses and ports in hexadecimal digits.
bool add_line(std::string_view line, buffer& listeners) {
  constexpr std::string_view listening = "0A";
  next_word(line);
  std::string_view local = next_word(line);
  next_word(line);
  if (next_word(line) != listening) return false;
  for (int skipped = 0; skipped < 5; ++skipped) next_word(line);
  local.remove_prefix(local.rfind(':') + 1);
  const listener found{number(next_word(line), 10), static_cast<std::uint32_t>(number(local, 16) & 0xffff)};
  if (listeners.size() < most_listeners * sizeof found)
    listeners.append(reinterpret_cast<const char*>(&found), sizeof found);
  return true;
}

void add_listeners(pid_t pid, const char* table, buffer& listeners) {
  char path[40];
  snprintf(path, sizeof path, "/proc/%d/net/%s", pid, table);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  buffer text;
  for (int without = 0; without < most_reads_without_listener; ++without) {
    const ssize_t n = read(fd, text.reserve(16384), 16384);
    if (n <= 0) break;
    text.commit(static_cast<std::size_t>(n));
    const std::string_view all = text.view();
    std::size_t at = 0;
    for (std::size_t end = 0; (end = all.find('\n', at)) != std::string_view::npos; at = end + 1) {
      if (add_line({all.data() + at, end - at}, listeners)) without = 0;
    }
    text.consume(at);
  }
  close(fd);
}

/// The tables of each network namespace that a process of these is in.
void find_listeners(std::string_view pids, buffer& listeners) {
  ino_t seen[most_namespaces];
  int count = 0;
  for (std::size_t at = 0; at < pids.size() && count < most_namespaces; at += sizeof(pid_t)) {
    pid_t pid;
    std::memcpy(&pid, pids.data() + at, sizeof pid);
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/ns/net", pid);
    struct stat about;
    if (stat(path, &about) != 0) continue;
    bool is_new = true;
    for (int i = 0; i < count; ++i) is_new = is_new && seen[i] != about.st_ino;
    if (!is_new) continue;
    seen[count++] = about.st_ino;
    add_listeners(pid, "tcp", listeners);
    add_listeners(pid, "tcp6", listeners);
  }
}

/// A bit for each port.
class port_set {
 public:
  void add(std::uint32_t port) { bits_[port / 8] = static_cast<unsigned char>(bits_[port / 8] | 1u << port % 8); }
  bool has(std::uint32_t port) const { return (bits_[port / 8] >> port % 8 & 1) != 0; }

 private:
  unsigned char bits_[65536 / 8] = {};
};

/// Those of the listeners that the process holds.
void add_held(pid_t pid, std::string_view listeners, port_set& ports, int& descriptors_left) {
  constexpr std::string_view prefix = "socket:[";
  char path[40];
  snprintf(path, sizeof path, "/proc/%d/fd", pid);
  DIR* all = opendir(path);
  if (all == nullptr) return;
  while (const dirent* entry = descriptors_left > 0 ? readdir(all) : nullptr) {
    --descriptors_left;
    char link[64];
    const ssize_t n = readlinkat(dirfd(all), entry->d_name, link, sizeof link);
    std::string_view target(link, n > 0 ? static_cast<std::size_t>(n) : 0);
    if (!target.starts_with(prefix) || target.back() != ']') continue;
    target.remove_prefix(prefix.size());
    target.remove_suffix(1);
    const listener wanted{number(target, 10), 0};
    const void* found = bsearch(&wanted, listeners.data(), listeners.size() / sizeof wanted, sizeof wanted, by_inode);
    if (found != nullptr) ports.add(static_cast<const listener*>(found)->port);
  }
  closedir(all);
}

}  // namespace

void put_listening_ports(tree& all, const membership& whose, buffer& to) {
  const use_of_reserve may_walk;
  buffer pids;
  all.members(whose, pids);
  buffer listeners;
  find_listeners(pids.view(), listeners);
  const std::string_view found = listeners.view();
  if (!found.empty())
    qsort(const_cast<char*>(found.data()), found.size() / sizeof(listener), sizeof(listener), by_inode);
  port_set ports;
  int descriptors_left = found.empty() ? 0 : most_descriptors;
  for (std::size_t at = 0; at < pids.size() && descriptors_left > 0; at += sizeof(pid_t)) {
    pid_t pid;
    std::memcpy(&pid, pids.view().data() + at, sizeof pid);
    add_held(pid, found, ports, descriptors_left);
  }
  std::uint32_t count = 0;
  for (std::uint32_t port = 0; port < 65536; ++port) count += ports.has(port) ? 1 : 0;
  wire::writer out(to);
  out.u32(count);
  for (std::uint32_t port = 0; port < 65536; ++port) {
    if (ports.has(port)) out.u16(static_cast<std::uint16_t>(port));
  }
}

}  // namespace berth::resident
