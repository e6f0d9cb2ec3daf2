/// What does one exec cost beyond the start of the program; with a large caller; with many at once; in a new place?

#include "suite/floor.hpp"
#include "suite/place_samples.hpp"
#include "suite/suite.hpp"
#include "suite/warm_place.hpp"

#include <charconv>
#include <stdexcept>
#include <utility>

namespace berth::suite {
namespace {

task<double> bare_exec() {
  const bench::stopwatch watch;
  wait_bare(start_bare({"/bin/true"}));
  co_return watch.micros();
}

task<double> bare_execs() {
  const bench::stopwatch watch;
  std::vector<pid_t> started;
  for (int i = 0; i < execs_at_once; ++i) started.push_back(start_bare({"/bin/true"}));
  for (const pid_t pid : started) wait_bare(pid);
  co_return execs_at_once * 1e6 / watch.micros();
}

task<double> exec_share(shared_place warm, int count) {
  const double micros = co_await execs(std::move(warm), count);
  co_return micros / count;
}

// ---- a caller with much memory --------------------------------------------------------------------------------------

/// A worker of ours in the place, which gives a sample for each line that it reads.
struct large_caller {
  shared_place warm;
  process worker;
};

task<void> start_large(std::shared_ptr<large_caller> large) {
  co_await open_place(large->warm);
  context place = *large->warm->place;
  auto worker = command(worker_words("exec-2gib")).input_stream();
  large->worker = co_await place.exec_stream(large->warm->where, std::move(worker));
}

task<void> end_large(std::shared_ptr<large_caller> large) {
  large->worker = process();
  co_await close_place(large->warm);
}

task<double> large_exec(std::shared_ptr<large_caller> large) {
  co_await large->worker.write("\n");
  const auto piece = co_await large->worker.next();
  if (!piece) throw std::runtime_error("the worker is gone");
  double micros = 0;
  const auto& text = piece->bytes();
  const auto read = std::from_chars(text.data(), text.data() + text.size(), micros);
  if (read.ec != std::errc()) throw std::runtime_error(text);
  co_return micros;
}

bench::subject large_subject(shared_place warm) {
  auto large = std::make_shared<large_caller>();
  large->warm = std::move(warm);
  return {.name = "exec/host-2gib",
          .bases = {{"exec/host", 1.1}},
          .runs = 300,
          .warmup = 10,
          .sample = [large] { return large_exec(large); },
          .prepare = [large] { return start_large(large); },
          .finish = [large] { return end_large(large); }};
}

}  // namespace

subjects exec_suite(asio::io_context& io) {
  const auto warm = std::make_shared<warm_place>(io);
  subjects all;
  all.push_back({.name = "exec/floor", .runs = 300, .warmup = 10, .sample = bare_exec});
  all.push_back(
      in_place(warm, {.name = "exec/host", .bases = {{"exec/floor", 1.2}}, .runs = 300, .warmup = 10, .sample = [warm] {
                        return one_exec(warm);
                      }}));
  all.push_back(large_subject(warm));
  for (const int count : {1, 4, 16, 64, 256}) {
    all.push_back(in_place(
        warm, {.name = "exec/curve-" + std::to_string(count), .runs = 20, .warmup = 2, .sample = [warm, count] {
                 return exec_share(warm, count);
               }}));
  }
  const bench::subject rates{.unit = "exec/s", .direction = bench::better::more, .runs = 50, .warmup = 3};
  auto floor = rates;
  floor.name = "exec64/floor";
  floor.sample = bare_execs;
  auto host = rates;
  host.name = "exec64/host";
  host.bases = {{"exec64/floor"}};
  host.sample = [warm] { return exec_rate(warm); };
  all.push_back(std::move(floor));
  all.push_back(in_place(warm, std::move(host)));
  all.push_back(in_place(warm, {.name = "spawn/host", .runs = 50, .sample = [warm] { return first_exec(warm); }}));
  return all;
}

}  // namespace berth::suite
