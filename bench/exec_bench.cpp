/// What does one exec cost beyond the start of the program, and does it depend on the size of the caller?

#include "floor.hpp"
#include "harness.hpp"
#include "warm_place.hpp"
#include "worker.hpp"

#include <sys/mman.h>

#include <cerrno>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace berth::bench {
namespace {

constexpr std::size_t two_gib = std::size_t{2} << 30;
constexpr std::size_t page = 4096;

double floor_sample() {
  const auto begin = clock::now();
  wait_bare(start_bare({"/bin/true"}));
  return micros_since(begin);
}

task<void> time_exec(context place, handle where, double& micros) {
  const auto begin = clock::now();
  auto result = co_await place.exec(std::move(where), argv("/bin/true"));
  micros = micros_since(begin);
  if (!result.ok()) throw std::runtime_error(describe(result.status));
}

double host_sample() {
  auto& host = shared_warm_place();
  double micros = 0;
  host.run(time_exec(host.place(), host.where(), micros));
  return micros;
}

/// Memory in small pages, every one of them touched: what makes fork() slow. It stays until the process ends.
sampler hold_memory() {
  void* const memory = ::mmap(nullptr, two_gib, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  ::madvise(memory, two_gib, MADV_NOHUGEPAGE);
  for (std::size_t at = 0; at < two_gib; at += page) static_cast<volatile char*>(memory)[at] = 1;
  return host_sample;
}

int main_of_bench(int argc, char** argv) {
  worker large(hold_memory);
  return run(argc, argv,
             {
                 {.name = "exec/floor", .sample = floor_sample},
                 {.name = "exec/host", .base = "exec/floor", .bar = 1.2, .sample = host_sample},
                 {.name = "exec/host-2gib", .base = "exec/host", .bar = 1.1, .sample = [&] { return large.sample(); }},
             },
             {.runs = 300, .warmup = 10});
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) { return berth::bench::main_of_bench(argc, argv); }
