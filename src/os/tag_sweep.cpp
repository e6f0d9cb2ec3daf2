#include "os/tag_sweep.hpp"

#include "os/pidfd.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>

namespace berth {
namespace {

using clock = std::chrono::steady_clock;

std::string read_small(const std::string& path) {
  const unique_fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text(4096, '\0');
  const ssize_t n = fd ? ::read(fd.get(), text.data(), text.size()) : 0;
  text.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  return text;
}

// "Max file locks            17179869185          17179869185          locks": both numbers, 0 where unlimited.
rlimit limit_from_text(std::string_view text) {
  rlimit found{0, 0};
  constexpr std::string_view title = "Max file locks";
  const auto at = text.find(title);
  if (at == text.npos) return found;
  text.remove_prefix(at + title.size());
  for (rlim_t* value : {&found.rlim_cur, &found.rlim_max}) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    std::from_chars(text.data(), text.data() + text.size(), *value);
    text.remove_prefix(std::min(text.find(' '), text.size()));
  }
  return found;
}

bool has_tag(pid_t pid, std::uint32_t nonce) {
  rlimit tag{0, 0};
  if (::prlimit(pid, RLIMIT_LOCKS, nullptr, &tag) != 0)
    tag = limit_from_text(read_small("/proc/" + std::to_string(pid) + "/limits"));
  const auto matches = [nonce](rlim_t value) { return value != RLIM_INFINITY && value >> 32 == nonce; };
  return matches(tag.rlim_cur) || matches(tag.rlim_max);
}

bool is_dead(const unique_fd& pidfd) {
  pollfd one{pidfd.get(), POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

// True if the process is one of ours and still there after what could be done.
bool end_one(pid_t pid, std::uint32_t nonce) {
  if (!has_tag(pid, nonce)) return false;
  const unique_fd pidfd = open_pidfd(pid);
  // The number may have gone to another process since the first look.
  if (!pidfd || is_dead(pidfd) || !has_tag(pid, nonce)) return false;
  send_signal(pidfd, SIGKILL);
  return !is_dead(pidfd);
}

std::vector<pid_t> end_all(std::uint32_t nonce) {
  std::vector<pid_t> left;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), &::closedir);
  if (!proc) return left;
  while (const dirent* entry = ::readdir(proc.get())) {
    pid_t pid = 0;
    const char* end = entry->d_name + std::strlen(entry->d_name);
    const auto [stop, code] = std::from_chars(static_cast<const char*>(entry->d_name), end, pid);
    if (code == std::errc() && stop == end && end_one(pid, nonce)) left.push_back(pid);
  }
  return left;
}

std::string name_of(pid_t pid) {
  std::string name = read_small("/proc/" + std::to_string(pid) + "/comm");
  if (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

}  // namespace

std::vector<swept_process> sweep_tagged(std::uint32_t nonce, std::chrono::milliseconds limit) {
  std::vector<swept_process> survivors;
  if (nonce == 0 || nonce == 0xffffffff) return survivors;
  const auto deadline = clock::now() + limit;
  std::vector<pid_t> left = end_all(nonce);
  // A process that was born during a walk may have been missed by it: one more after the last that found something.
  for (bool found = true; found && clock::now() < deadline;) {
    found = !left.empty();
    if (found) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    left = end_all(nonce);
    found = found || !left.empty();
  }
  for (const pid_t pid : left) survivors.push_back({pid, name_of(pid)});
  return survivors;
}

}  // namespace berth
