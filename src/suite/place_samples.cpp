#include "suite/place_samples.hpp"

#include "core/task_group.hpp"
#include "suite/suite.hpp"

#include <asio/this_coro.hpp>

#include <stdexcept>
#include <utility>

namespace berth::suite {

task<double> one_exec(shared_place warm) {
  context place = *warm->place;
  handle where = warm->where;
  const bench::stopwatch watch;
  const auto result = co_await place.exec(std::move(where), argv("/bin/true"));
  const double micros = watch.micros();
  require_ok(result.status);
  co_return micros;
}

task<double> execs(shared_place warm, int count) {
  const auto executor = co_await asio::this_coro::executor;
  task_group group(executor);
  const bench::stopwatch watch;
  for (int i = 0; i < count; ++i) group.spawn(exec_true(*warm->place, warm->where));
  co_await group.join();
  co_return watch.micros();
}

task<double> exec_rate(shared_place warm) {
  const double micros = co_await execs(std::move(warm), execs_at_once);
  co_return execs_at_once * 1e6 / micros;
}

task<double> first_exec(shared_place warm) {
  context place = *warm->place;
  const bench::stopwatch watch;
  const handle fresh = co_await place.spawn();
  co_await exec_true(place, fresh);
  const double micros = watch.micros();
  co_await place.destroy(fresh);
  co_return micros;
}

task<double> stream_rate(shared_place warm) {
  return output_rate(std::move(warm), command(worker_words("write", std::to_string(stream_total))), stream_total);
}

task<double> output_rate(shared_place warm, command program, std::size_t bytes) {
  context place = *warm->place;
  const bench::stopwatch watch;
  auto process = co_await place.exec_stream(warm->where, std::move(program));
  std::size_t seen = 0;
  for (;;) {
    const auto piece = co_await process.next();
    if (!piece) break;
    if (piece->stream() == output_stream::std_out) seen += piece->bytes().size();
  }
  const double micros = watch.micros();
  require_ok(*process.status());
  if (seen != bytes) throw std::runtime_error("only " + std::to_string(seen) + " came");
  co_return static_cast<double>(bytes) / micros;
}

}  // namespace berth::suite
