/// How much of the speed of a pipe is left when 1 GiB comes through exec_stream?

#include "floor.hpp"
#include "harness.hpp"
#include "warm_place.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace berth::bench {
namespace {

constexpr std::size_t total = std::size_t{1} << 30;
constexpr std::size_t written_at_once = 128 << 10;
// What the library does: pipes that keep filling are raised to 1 MiB and read with this buffer.
constexpr int pipe_size = 1 << 20;
constexpr std::size_t buffer_size = 256 << 10;
const std::string write_word = "--write-all";

/// The other side of both benches: this program again, writing as fast as it can.
int write_all() {
  const std::vector<char> block(written_at_once, 'x');
  for (std::size_t left = total; left > 0;) {
    const auto done = ::write(STDOUT_FILENO, block.data(), std::min(left, block.size()));
    if (done <= 0) return 1;
    left -= static_cast<std::size_t>(done);
  }
  return 0;
}

double megabytes_per_second(clock::time_point begin) { return static_cast<double>(total) / micros_since(begin); }

void check_total(std::size_t seen) {
  if (seen != total) throw std::runtime_error("only " + std::to_string(seen) + " bytes came");
}

std::size_t read_to_end(int fd) {
  std::vector<char> buffer(buffer_size);
  std::size_t seen = 0;
  for (;;) {
    const auto got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0) throw std::system_error(errno, std::generic_category(), "read");
    if (got == 0) return seen;
    seen += static_cast<std::size_t>(got);
  }
}

double floor_sample() {
  const auto begin = clock::now();
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::system_error(errno, std::generic_category(), "pipe2");
  ::fcntl(ends[0], F_SETPIPE_SZ, pipe_size);
  const pid_t pid = start_bare({own_path(), write_word}, ends[1]);
  ::close(ends[1]);
  const std::size_t seen = read_to_end(ends[0]);
  ::close(ends[0]);
  wait_bare(pid);
  check_total(seen);
  return megabytes_per_second(begin);
}

task<void> read_stream(context place, handle where) {
  auto process = co_await place.exec_stream(std::move(where), argv(own_path(), write_word));
  std::size_t seen = 0;
  while (auto piece = co_await process.next()) seen += piece->bytes().size();
  if (!process.status()->ok()) throw std::runtime_error(describe(*process.status()));
  check_total(seen);
}

double host_sample() {
  auto& host = shared_warm_place();
  const auto begin = clock::now();
  host.run(read_stream(host.place(), host.where()));
  return megabytes_per_second(begin);
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  using namespace berth::bench;
  if (argc == 2 && argv[1] == write_word) return write_all();
  return run(argc, argv,
             {
                 {.name = "stream/floor", .unit = "MB/s", .direction = better::more, .sample = floor_sample},
                 {.name = "stream/host",
                  .base = "stream/floor",
                  .unit = "MB/s",
                  .direction = better::more,
                  .bar = 1.1,
                  .sample = host_sample},
             },
             {.runs = 20, .warmup = 2});
}
