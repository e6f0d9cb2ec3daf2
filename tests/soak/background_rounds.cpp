#include "soak/background_rounds.hpp"

#include "support/proc_scan.hpp"
#include "support/temp_dir.hpp"
#include "support/waiting.hpp"

#include <berth/process_context.hpp>

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

namespace berth::test {
namespace {

using namespace std::chrono_literals;
constexpr rlim_t descriptors_allowed = 1024;

/// The limit for a scope, or for good.
class few_descriptors {
 public:
  few_descriptors() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = std::min(few.rlim_max, descriptors_allowed);
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  few_descriptors(const few_descriptors&) = delete;
  few_descriptors& operator=(const few_descriptors&) = delete;
  ~few_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  void for_good() {
    before_ = {descriptors_allowed, descriptors_allowed};
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  rlimit before_{};
};

std::size_t heap_in_use() {
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// What is waited for: `gate` is a FIFO that nobody writes to yet.
command member(int number, int lines) {
  const std::string name = std::to_string(number);
  const std::string print = "i=0; while [ $i -lt " + std::to_string(lines) + " ]; do echo " + name +
                            " line $i; i=$((i+1)); done; echo e" + name + " >&2; ";
  return command(print + "read never <gate; " + print + "exit " + std::to_string(number % 100));
}

std::string expected_out(int number, int lines) {
  std::string text;
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < lines; ++i) text += std::to_string(number) + " line " + std::to_string(i) + "\n";
  }
  return text;
}

std::size_t log_bytes(const std::vector<background>& all) {
  std::size_t sum = 0;
  for (const background& each : all) {
    for (const auto stream : {output_stream::std_out, output_stream::std_err})
      sum += each.read(stream, 0).bytes().size();
  }
  return sum;
}

/// All printed their first half, and wait at the gate.
task<void> assemble(std::vector<background>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string last = "e" + std::to_string(i) + "\n";
    co_await all[i].wait_for_output(last, 120s);
  }
}

/// Opens the gate again and again: some may not have come to it yet.
task<void> release(std::vector<background>& all, std::string gate) {
  const auto until = std::chrono::steady_clock::now() + 120s;
  const auto runs = [](const background& each) { return !each.status(); };
  while (std::any_of(all.begin(), all.end(), runs) && std::chrono::steady_clock::now() < until) {
    const int fd = ::open(gate.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0) ::close(fd);
    co_await pause_for(20ms);
  }
}

void look_at(const background& one, int number, int lines, crowd_seen& seen) {
  const std::string name = std::to_string(number);
  const std::string out = one.read(output_stream::std_out, 0).bytes();
  const std::string err = one.read(output_stream::std_err, 0).bytes();
  const bool exact = one.status() == exit_status::exited(number % 100) && out == expected_out(number, lines) &&
                     err == "e" + name + "\ne" + name + "\n";
  seen.exact += exact ? 1 : 0;
  if (exact || !seen.first_wrong.empty()) return;
  const std::string end = one.status() ? describe(*one.status()) : "it runs";
  seen.first_wrong = name + ": " + end + "; " + out + err;
}

}  // namespace

task<crowd_seen> run_crowd(asio::io_context& io, background_crowd wanted) {
  crowd_seen seen;
  const temp_dir directory;
  const std::string gate = directory / "gate";
  ::mkfifo(gate.c_str(), 0600);
  few_descriptors limit;
  process_context_options options;
  options.cwd = directory.path().string();
  context place = make_process_context(io, options);
  const handle where = co_await place.spawn();
  // The resident has its own limit by now.
  if (wanted.for_good) limit.for_good();
  co_await place.exec(where, "true");
  std::vector<background> all;
  all.reserve(static_cast<std::size_t>(wanted.commands));
  const std::size_t heap = heap_in_use();
  const std::size_t descriptors = open_descriptor_count();
  for (int i = 0; i < wanted.commands; ++i) {
    command what = member(i, wanted.lines);
    all.push_back(co_await place.exec_background(where, std::move(what)));
  }
  co_await assemble(all);
  const std::size_t held = heap_in_use() - heap - log_bytes(all);
  seen.held_each = held / all.size();
  seen.descriptors = open_descriptor_count() - descriptors;
  co_await release(all, gate);
  for (int i = 0; i < wanted.commands; ++i) look_at(all[static_cast<std::size_t>(i)], i, wanted.lines, seen);
  co_await place.destroy(where);
  co_return seen;
}

}  // namespace berth::test
