/// What does the library hold in memory for a command that streams, and for one that idles in the background?

#include "core/task_group.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <sys/resource.h>
#include <asio/this_coro.hpp>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace berth::suite {
namespace {

constexpr std::size_t streaming = 1000;
constexpr std::size_t idling = 100;
// Two or three pipes and a pidfd.
constexpr std::size_t descriptors_each = 4;
constexpr std::size_t descriptors_apart = 100;

/// KiB that the heap has given out.
double heap() {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  return static_cast<double>(::mallinfo2().uordblks) / 1024;
#else
  throw std::runtime_error("this C library does not tell what the heap holds");
#endif
}

/// Raises the limit of open files as far as it goes, while it lives.
class many_files {
 public:
  many_files() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit raised = before_;
    raised.rlim_cur = raised.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &raised);
  }
  many_files(const many_files&) = delete;
  ~many_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }

  /// How many commands there can be at once.
  std::size_t commands() const {
    const auto most = static_cast<std::size_t>(before_.rlim_max) / descriptors_each;
    return std::min(streaming, most - std::min(most, descriptors_apart));
  }

 private:
  rlimit before_{};
};

/// One byte there and back, and both streams stay open.
task<void> start_streaming(shared_place warm, process* into) {
  context place = *warm->place;
  *into = co_await place.exec_stream(warm->where, argv("/bin/cat").input_stream());
  co_await into->write("x");
  const auto piece = co_await into->next();
  if (!piece) throw std::runtime_error("a command has ended");
}

task<void> end_streaming(process* which) { co_await which->kill(); }

task<double> held_by_streams(shared_place warm) {
  const auto executor = co_await asio::this_coro::executor;
  const many_files raised;
  std::vector<process> running(raised.commands());
  const double before = heap();
  {
    task_group starts(executor);
    for (auto& each : running) starts.spawn(start_streaming(warm, &each));
    co_await starts.join();
  }
  const double held = heap() - before;
  task_group ends(executor);
  for (auto& each : running) ends.spawn(end_streaming(&each));
  co_await ends.join();
  co_return held / static_cast<double>(running.size());
}

task<double> held_by_idle(shared_place warm) {
  context place = *warm->place;
  const handle where = co_await place.spawn();
  const double before = heap();
  for (std::size_t i = 0; i < idling; ++i) {
    const auto one = co_await place.exec_background(where, argv("/bin/sleep", "1000"));
    if (one.status()) throw std::runtime_error("a command has ended");
  }
  const double held = heap() - before;
  co_await place.destroy(where);
  co_return held / static_cast<double>(idling);
}

}  // namespace

subjects memory_suite(asio::io_context& io) {
  const auto warm = std::make_shared<warm_place>(io);
  subjects all;
  const bench::subject kib{.unit = "KiB", .runs = 6, .warmup = 1};
  auto stream = kib;
  stream.name = "memory/stream";
  stream.limit = 16;
  stream.sample = [warm] { return held_by_streams(warm); };
  all.push_back(in_place(warm, std::move(stream)));
  auto idle = kib;
  idle.name = "idle/host";
  idle.sample = [warm] { return held_by_idle(warm); };
  all.push_back(in_place(warm, std::move(idle)));
  return all;
}

}  // namespace berth::suite
