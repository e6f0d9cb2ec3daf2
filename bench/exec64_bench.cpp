/// How many programs a second are started and collected when 64 run at once?

#include "floor.hpp"
#include "harness.hpp"
#include "warm_place.hpp"

#include <stdexcept>
#include <utility>
#include <vector>

namespace berth::bench {
namespace {

constexpr int at_once = 64;

double per_second(clock::time_point begin) { return at_once * 1e6 / micros_since(begin); }

double floor_sample() {
  const auto begin = clock::now();
  std::vector<pid_t> started;
  for (int i = 0; i < at_once; ++i) started.push_back(start_bare({"/bin/true"}));
  for (const pid_t pid : started) wait_bare(pid);
  return per_second(begin);
}

task<void> exec_true(context place, handle where) {
  auto result = co_await place.exec(std::move(where), argv("/bin/true"));
  if (!result.ok()) throw std::runtime_error(describe(result.status));
}

double host_sample() {
  auto& host = shared_warm_place();
  const auto begin = clock::now();
  std::vector<task<void>> works;
  for (int i = 0; i < at_once; ++i) works.push_back(exec_true(host.place(), host.where()));
  host.run(std::move(works));
  return per_second(begin);
}

}  // namespace
}  // namespace berth::bench

int main(int argc, char** argv) {
  using namespace berth::bench;
  return run(argc, argv,
             {
                 {.name = "exec64/floor", .unit = "exec/s", .direction = better::more, .sample = floor_sample},
                 {.name = "exec64/host",
                  .base = "exec64/floor",
                  .unit = "exec/s",
                  .direction = better::more,
                  .sample = host_sample},
             },
             {.runs = 50, .warmup = 3});
}
