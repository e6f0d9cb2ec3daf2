#include "contract/contract.hpp"

#include "support/proc_scan.hpp"

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

namespace berth::contract {
namespace {

std::size_t peak_memory() {
  const std::string status = proc_file(getpid(), "status");
  const auto row = status.find("VmHWM:");
  return row == std::string::npos ? 0 : std::strtoull(status.c_str() + row + 6, nullptr, 10) * 1024;
}

}  // namespace

bool is_pattern(std::string_view bytes, std::uint64_t offset) {
  auto expected = static_cast<unsigned>(offset % 251);
  for (const char byte : bytes) {
    if (static_cast<unsigned char>(byte) != expected) return false;
    expected = expected == 250 ? 0 : expected + 1;
  }
  return true;
}

task<std::string> read_until(process& source, std::string text) {
  std::string seen;
  while (seen.find(text) == std::string::npos) {
    std::optional<chunk> piece = co_await source.next();
    if (!piece) break;
    if (piece->stream() == output_stream::std_out) seen += piece->bytes();
  }
  co_return seen;
}

task<std::shared_ptr<collected>> read_all(process& source) {
  auto all = std::make_shared<collected>();
  while (auto piece = co_await source.next()) {
    CHECK_FALSE(piece->bytes().empty());
    (piece->stream() == output_stream::std_out ? all->out : all->err) += piece->bytes();
  }
  co_return all;
}

task<std::vector<pid_t>> pids_here(context& place, handle where, std::vector<pid_t> there) {
  const exec_result asked = co_await place.exec(std::move(where), argv("readlink", "-n", "/proc/self/ns/pid"));
  REQUIRE(asked.std_out.starts_with("pid:["));
  if (asked.std_out == pid_namespace_of(getpid())) co_return there;
  std::map<pid_t, pid_t> inhabitants;
  for (const process_info& process : all_processes()) {
    if (pid_namespace_of(process.pid) == asked.std_out) inhabitants[innermost_pid_of(process.pid)] = process.pid;
  }
  for (pid_t& pid : there) {
    const auto found = inhabitants.find(pid);
    pid = found == inhabitants.end() ? -pid : found->second;
  }
  co_return there;
}

task<pid_t> pid_here(context& place, handle where, std::int64_t there) {
  std::vector<pid_t> one(1, static_cast<pid_t>(there));
  one = co_await pids_here(place, std::move(where), std::move(one));
  co_return one.front();
}

task<std::vector<pid_t>> pids_said(context& place, handle where, std::string output) {
  std::vector<pid_t> pids = pids_in(output);
  CHECK_FALSE(pids.empty());
  co_return co_await pids_here(place, std::move(where), std::move(pids));
}

task<std::vector<pid_t>> read_pids(context& place, handle where, process& source) {
  std::string seen = co_await read_until(source, "\n");
  co_return co_await pids_said(place, std::move(where), std::move(seen));
}

task<std::string> follow_all(background from, output_stream stream) {
  std::string all;
  std::uint64_t next = 0;
  for (;;) {
    const log_piece piece = co_await from.follow(stream, next);
    CHECK(piece.gap() == 0);
    CHECK(piece.offset() == next);
    all += piece.bytes();
    next = piece.next();
    if (piece.ended()) co_return all;
  }
}

running<exec_result> start_exec(context& place, handle where, command what) {
  return {place.get_executor(), place.exec(std::move(where), std::move(what))};
}

memory_rise::memory_rise() {
  std::ofstream("/proc/self/clear_refs") << "5";
  before_ = peak_memory();
}

bool memory_rise::stays_below(std::size_t bytes) const {
#ifdef __SANITIZE_ADDRESS__
  return bytes > 0;
#else
  return peak_memory() < before_ + bytes;
#endif
}

}  // namespace berth::contract
