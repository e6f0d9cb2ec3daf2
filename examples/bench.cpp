// Measures a place against another way of doing the same work. `place` may be over a backend of your own.

#include <berth/bench.hpp>
#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>
#include <asio/io_context.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench = berth::bench;

berth::task<double> by_system() {
  const bench::stopwatch watch;
  if (std::system("true") != 0) throw std::runtime_error("true failed");
  co_return watch.micros();
}

berth::task<double> by_exec(berth::context place, berth::handle here) {
  const bench::stopwatch watch;
  auto result = co_await place.exec(here, "true");
  if (!result.ok()) throw std::runtime_error(berth::describe(result.status));
  co_return watch.micros();
}

berth::task<void> measure(berth::context place) {
  auto here = co_await place.spawn();
  std::vector<bench::subject> subjects;
  subjects.push_back({.name = "mine/system", .runs = 20, .sample = by_system});
  subjects.push_back(
      {.name = "mine/exec", .bases = {{"mine/system"}}, .runs = 20, .sample = [=] { return by_exec(place, here); }});
  auto report = co_await bench::run(std::move(subjects));
  std::cout << bench::to_text(report);
  co_await place.destroy(here);
}

void rethrow(std::exception_ptr failure) {
  if (failure) std::rethrow_exception(failure);
}

int main() {
  asio::io_context io(1);
  asio::co_spawn(io, measure(berth::make_process_context(io)), rethrow);
  io.run();
}
