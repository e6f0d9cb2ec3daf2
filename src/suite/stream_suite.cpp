/// How much of the speed of a pipe is left through exec_stream: a gibibyte, the first byte, many small writes?

#include "suite/floor.hpp"
#include "suite/place_samples.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <fcntl.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace berth::suite {
namespace {

constexpr std::size_t line_count = 50'000;
// What the library does: pipes that keep filling are raised to 1 MiB and read with this buffer.
constexpr int pipe_size = 1 << 20;
constexpr std::size_t buffer_size = 256 << 10;

void require_count(std::size_t seen, std::size_t wanted) {
  if (seen != wanted) throw std::runtime_error("only " + std::to_string(seen) + " came");
}

std::size_t lines_in(const char* bytes, std::size_t size) {
  return static_cast<std::size_t>(std::count(bytes, bytes + size, '\n'));
}

struct counts {
  std::size_t bytes = 0;
  std::size_t lines = 0;
};

counts read_bare(const std::vector<std::string>& words, bool large_pipe) {
  bare_pipe pipe;
  if (large_pipe) ::fcntl(pipe.read_end, F_SETPIPE_SZ, pipe_size);
  const pid_t pid = start_bare(words, pipe.write_end);
  pipe.close_write_end();
  std::vector<char> buffer(buffer_size);
  counts seen;
  while (const auto got = read_some(pipe.read_end, buffer.data(), buffer.size())) {
    seen.bytes += got;
    if (!large_pipe) seen.lines += lines_in(buffer.data(), got);
  }
  wait_bare(pid);
  return seen;
}

task<counts> read_stream(shared_place warm, command what, bool count_lines) {
  context place = *warm->place;
  auto process = co_await place.exec_stream(warm->where, std::move(what));
  counts seen;
  for (;;) {
    const auto piece = co_await process.next();
    if (!piece) break;
    seen.bytes += piece->bytes().size();
    if (count_lines) seen.lines += lines_in(piece->bytes().data(), piece->bytes().size());
  }
  require_ok(*process.status());
  co_return seen;
}

// ---- a gibibyte -----------------------------------------------------------------------------------------------------

task<double> stream_floor() {
  const bench::stopwatch watch;
  const auto seen = read_bare(worker_words("write", std::to_string(stream_total)), true);
  require_count(seen.bytes, stream_total);
  co_return static_cast<double>(stream_total) / watch.micros();
}

/// `dd` starts faster than we do.
command zeros(std::size_t bytes) {
  const std::size_t block = std::min(bytes, std::size_t{128} << 10);
  return argv("dd", "if=/dev/zero", "bs=" + std::to_string(block), "count=" + std::to_string(bytes / block),
              "status=none");
}

task<double> stream_size(shared_place warm, std::size_t bytes) {
  auto source = zeros(bytes);
  const bench::stopwatch watch;
  const auto seen = co_await read_stream(warm, std::move(source), false);
  require_count(seen.bytes, bytes);
  co_return watch.micros();
}

// ---- lines, and the first byte --------------------------------------------------------------------------------------

task<double> lines_floor() {
  const bench::stopwatch watch;
  const auto seen = read_bare(worker_words("lines", std::to_string(line_count)), false);
  require_count(seen.lines, line_count);
  co_return static_cast<double>(line_count) * 1e6 / watch.micros();
}

task<double> lines_host(shared_place warm) {
  command worker(worker_words("lines", std::to_string(line_count)));
  const bench::stopwatch watch;
  const auto seen = co_await read_stream(warm, std::move(worker), true);
  require_count(seen.lines, line_count);
  co_return static_cast<double>(line_count) * 1e6 / watch.micros();
}

task<double> first_byte_floor() {
  const bench::stopwatch watch;
  bare_pipe pipe;
  const pid_t pid = start_bare({"/bin/echo", "x"}, pipe.write_end);
  pipe.close_write_end();
  char bytes[16];
  const auto got = read_some(pipe.read_end, bytes, sizeof bytes);
  const double micros = watch.micros();
  wait_bare(pid);
  require_count(got, 2);
  co_return micros;
}

task<double> first_byte_host(shared_place warm) {
  context place = *warm->place;
  const bench::stopwatch watch;
  auto process = co_await place.exec_stream(warm->where, argv("/bin/echo", "x"));
  const auto piece = co_await process.next();
  const double micros = watch.micros();
  const auto status = co_await process.wait();
  require_ok(status);
  require_count(piece ? piece->bytes().size() : 0, 2);
  co_return micros;
}

}  // namespace

subjects stream_suite(asio::io_context& io) {
  const auto warm = std::make_shared<warm_place>(io);
  subjects all;
  const bench::subject rate{.unit = "MB/s", .direction = bench::better::more, .runs = 20, .warmup = 2};
  const auto add = [&](bench::subject like, std::string name, std::vector<bench::base> bases,
                       std::function<task<double>()> sample) {
    like.name = std::move(name);
    like.bases = std::move(bases);
    like.sample = std::move(sample);
    all.push_back(in_place(warm, std::move(like)));
  };
  add(rate, "stream/floor", {}, stream_floor);
  add(rate, "stream/host", {{"stream/floor", 1.1}}, [warm] { return stream_rate(warm); });
  const std::pair<const char*, std::size_t> sizes[] = {
      {"1k", 1U << 10}, {"64k", 64U << 10}, {"1m", 1U << 20}, {"64m", 64U << 20}, {"1g", stream_total}};
  const bench::subject size{.runs = 20, .warmup = 2};
  for (const auto& [name, bytes] : sizes) {
    const auto count = bytes;
    add(size, std::string("stream/size-") + name, {}, [warm, count] { return stream_size(warm, count); });
  }
  const bench::subject first{.runs = 200};
  add(first, "first-byte/floor", {}, first_byte_floor);
  add(first, "first-byte/host", {{"first-byte/floor"}}, [warm] { return first_byte_host(warm); });
  const bench::subject lines{.unit = "lines/s", .direction = bench::better::more, .runs = 30, .warmup = 2};
  add(lines, "lines/floor", {}, lines_floor);
  add(lines, "lines/host", {{"lines/floor"}}, [warm] { return lines_host(warm); });
  return all;
}

}  // namespace berth::suite
