#include "support/waiting.hpp"

#include "support/proc_scan.hpp"

#include <asio/steady_timer.hpp>
#include <asio/this_coro.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>

namespace berth::test {

using namespace std::chrono_literals;

task<void> pause_for(std::chrono::steady_clock::duration time) {
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(asio::use_awaitable);
}

task<bool> becomes_true(std::function<bool()> condition, std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= deadline) co_return false;
    co_await pause_for(5ms);
  }
  co_return true;
}

task<bool> file_appears(std::string path, std::chrono::milliseconds time) {
  const std::function<bool()> there = [path] {
    std::error_code ignored;
    const auto size = std::filesystem::file_size(path, ignored);
    return !ignored && size > 0;
  };
  return becomes_true(there, time);
}

task<bool> all_gone(std::vector<pid_t> pids, std::chrono::milliseconds time) {
  const std::function<bool()> gone = [pids] { return std::none_of(pids.begin(), pids.end(), is_alive); };
  return becomes_true(gone, time);
}

std::string alive_among(const std::vector<pid_t>& pids) {
  std::string text;
  for (const process_info& process : all_processes()) {
    const bool asked = std::find(pids.begin(), pids.end(), process.pid) != pids.end();
    if (asked && !process.dead()) text += describe(process) + "\n";
  }
  return text;
}

std::vector<pid_t> pids_in(std::string_view output) {
  const auto at = output.find("pids ");
  if (at == std::string_view::npos) return {};
  const auto end = output.find('\n', at);
  std::istringstream line(std::string(output.substr(at + 5, end == std::string_view::npos ? end : end - at - 5)));
  std::vector<pid_t> pids;
  for (pid_t pid = 0; line >> pid;) pids.push_back(pid);
  return pids;
}

}  // namespace berth::test
