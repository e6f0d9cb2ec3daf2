#include "resident/client.hpp"

#include "support/proc_scan.hpp"

#include <doctest/doctest.h>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace berth::test {
namespace {

using clock_type = std::chrono::steady_clock;

/// Soft and hard value of RLIMIT_LOCKS; 0 for infinite.
std::pair<std::uint64_t, std::uint64_t> tags_of(pid_t pid) {
  const std::string limits = proc_file(pid, "limits");
  const std::string row = "Max file locks";
  const auto at = limits.find(row);
  if (at == std::string::npos) return {};
  char* end = nullptr;
  const std::uint64_t soft = std::strtoull(limits.c_str() + at + row.size(), &end, 10);
  return {soft, std::strtoull(end, nullptr, 10)};
}

}  // namespace

std::string hello_bytes(const wire::hello& h) {
  std::string bytes;
  h.put(bytes);
  return bytes;
}

std::string greeting_bytes(const wire::hello& h, std::uint8_t fds) {
  const std::string token(h.token, h.lease_ms != 0 ? wire::token_size : 0);
  return token + frame_bytes(wire::frame_type::hello, 0, 0, hello_bytes(h), fds);
}

std::string start_bytes(const start_request& request) {
  wire::start s;
  s.flags = request.flags;
  s.grace_ms = request.grace_ms;
  s.credit = request.credit;
  s.columns = request.size.columns;
  s.rows = request.size.rows;
  s.cwd = request.cwd;
  s.cgroup = request.cgroup;
  s.cgroup_memory = request.cgroup_memory;
  s.cgroup_processes = request.cgroup_processes;
  s.argc = static_cast<std::uint32_t>(request.argv.size());
  s.envc = static_cast<std::uint32_t>(request.env.size());
  s.limitc = static_cast<std::uint32_t>(request.limits.size());
  std::string bytes;
  s.put(bytes);
  wire::writer words(bytes);
  for (const std::string& word : request.argv) words.bytes(word);
  for (const std::string& change : request.env) words.bytes(change);
  for (const auto& [kind, number] : request.limits) wire::put_limit(bytes, kind, number);
  return bytes;
}

std::string number_bytes(std::uint64_t n) {
  std::string bytes;
  wire::put_number(bytes, n);
  return bytes;
}

std::string frame_bytes(wire::frame_type type, std::uint32_t id, std::uint16_t stream, std::string_view payload,
                        std::uint8_t fds) {
  char head[wire::header_size];
  wire::put_header({static_cast<std::uint32_t>(payload.size()), type, fds, stream, id}, head);
  return std::string(head, sizeof head).append(payload);
}

start_request shell(std::string text, std::uint32_t flags) { return {{"/bin/sh", "-c", std::move(text)}, flags}; }

start_request in_terminal(std::string text, std::uint32_t flags) {
  start_request request = shell(std::move(text), flags | wire::start_terminal);
  request.size = {80, 24};
  return request;
}

start_request child(std::vector<std::string> words, std::uint32_t flags) {
  words.insert(words.begin(), BERTH_TEST_PROGRAMS "/child");
  return {std::move(words), flags};
}

bool becomes(const std::function<bool()>& condition, milliseconds time) {
  const auto deadline = clock_type::now() + time;
  while (!condition()) {
    if (clock_type::now() >= deadline) return false;
    usleep(2000);
  }
  return true;
}

std::vector<pid_t> tagged(std::uint32_t nonce, std::optional<std::uint32_t> id) {
  std::vector<pid_t> found;
  const auto is_its = [&](std::uint64_t tag) {
    return tag >> 32 == nonce && (!id || static_cast<std::uint32_t>(tag) == *id);
  };
  for (const process_info& process : all_processes()) {
    if (process.dead()) continue;
    const auto [soft, hard] = tags_of(process.pid);
    if (is_its(soft) || is_its(hard)) found.push_back(process.pid);
  }
  return found;
}

std::string read_all(int fd, milliseconds time) {
  const auto deadline = clock_type::now() + time;
  std::string text;
  char block[65536];
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - clock_type::now()).count();
    pollfd p{fd, POLLIN, 0};
    if (poll(&p, 1, left < 0 ? 0 : static_cast<int>(left)) <= 0) return text;
    const ssize_t n = read(fd, block, sizeof block);
    if (n <= 0) return text;
    text.append(block, static_cast<std::size_t>(n));
  }
}

std::chrono::microseconds cpu_time(pid_t pid) {
  return std::chrono::microseconds(std::strtoll(proc_file(pid, "schedstat").c_str(), nullptr, 10) / 1000);
}

std::chrono::microseconds burnt(pid_t pid) {
  const auto before = cpu_time(pid);
  usleep(300000);
  return cpu_time(pid) - before;
}

std::vector<pid_t> pids_after_word(std::string_view text) {
  std::vector<pid_t> pids;
  const auto at = text.find("pids ");
  if (at == std::string_view::npos) return pids;
  const std::string line(text.substr(at + 5, text.find('\n', at) - at - 5));
  char* rest = const_cast<char*>(line.c_str());
  while (const long pid = std::strtol(rest, &rest, 10)) pids.push_back(static_cast<pid_t>(pid));
  return pids;
}

void skip(const char* reason) {
  const char* name = doctest::getContextOptions()->currentTest->m_name;
  std::printf("SKIPPED: %s: %s\n", name, reason);
}

uid_t lone_user() {
  static unsigned count = 0;
  return 61000 + static_cast<uid_t>(getpid() % 500) * 8 + count++ % 8;
}

}  // namespace berth::test
