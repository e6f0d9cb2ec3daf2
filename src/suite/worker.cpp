/// The other sides of benches: programs that write, echo, or hold much memory.

#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

namespace berth::suite {
namespace {

constexpr std::size_t two_gib = std::size_t{2} << 30;
constexpr std::size_t page = 4096;
constexpr std::size_t written_at_once = 128 << 10;
constexpr std::size_t line_size = 64;

bool write_whole(const char* bytes, std::size_t size) {
  while (size > 0) {
    const auto done = ::write(STDOUT_FILENO, bytes, size);
    if (done <= 0) return false;
    bytes += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

/// As fast as it can.
int write_bytes(std::size_t total) {
  const std::vector<char> block(written_at_once, 'x');
  for (std::size_t left = total; left > 0;) {
    const auto size = std::min(left, block.size());
    if (!write_whole(block.data(), size)) return 1;
    left -= size;
  }
  return 0;
}

/// Each with a write of its own.
int write_lines(std::size_t count) {
  const std::string line = std::string(line_size - 1, 'x') + '\n';
  for (std::size_t i = 0; i < count; ++i) {
    if (!write_whole(line.data(), line.size())) return 1;
  }
  return 0;
}

/// Answers every key that is typed into a raw terminal, after a first sign that it is ready.
int echo_keys() {
  termios settings{};
  if (::tcgetattr(STDIN_FILENO, &settings) != 0) return 1;
  ::cfmakeraw(&settings);
  if (::tcsetattr(STDIN_FILENO, TCSANOW, &settings) != 0) return 1;
  char key = '!';
  do {
    if (!write_whole(&key, 1)) return 1;
  } while (::read(STDIN_FILENO, &key, 1) == 1);
  return 0;
}

/// In small pages, every one of them touched: what makes fork() slow. It stays until the process ends.
void hold_memory() {
  void* const memory = ::mmap(nullptr, two_gib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  ::madvise(memory, two_gib, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < two_gib; at += page) static_cast<volatile char*>(memory)[at] = 1;
}

/// A sample for each byte that is read.
task<int> exec_with_memory(shared_place warm) {
  hold_memory();
  co_await open_place(warm);
  context place = *warm->place;
  char request = 0;
  while (::read(STDIN_FILENO, &request, 1) == 1) {
    const bench::stopwatch watch;
    const auto result = co_await place.exec(warm->where, argv("/bin/true"));
    const std::string answer = fmt::format("{:.3f}\n", watch.micros());
    require_ok(result.status);
    if (!write_whole(answer.data(), answer.size())) break;
  }
  co_await close_place(warm);
  co_return 0;
}

}  // namespace

task<int> work(asio::io_context& io, std::vector<std::string> what) {
  what.resize(2);
  const std::size_t count = std::strtoull(what[1].c_str(), nullptr, 10);
  if (what[0] == "write") co_return write_bytes(count);
  if (what[0] == "lines") co_return write_lines(count);
  if (what[0] == "echo") co_return echo_keys();
  if (what[0] != "exec-2gib") co_return 2;
  auto warm = std::make_shared<warm_place>(io);
  const int code = co_await exec_with_memory(std::move(warm));
  co_return code;
}

}  // namespace berth::suite
