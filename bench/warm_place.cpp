#include "warm_place.hpp"

#include <berth/process_context.hpp>

#include <asio/co_spawn.hpp>

#include <exception>
#include <utility>

namespace berth::bench {
namespace {

task<void> spawn_place(context place, handle& into) { into = co_await place.spawn(); }

task<void> destroy_place(context place, handle where) { co_await place.destroy(where); }

}  // namespace

double micros_since(clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(clock::now() - begin).count();
}

warm_place::warm_place() : io_(1), place_(make_process_context(io_)) { run(spawn_place(place_, where_)); }

warm_place::~warm_place() {
  try {
    run(destroy_place(place_, where_));
  } catch (const std::exception&) {
    // The context ends what is left when it goes.
  }
}

void warm_place::run(std::vector<task<void>> works) {
  std::size_t left = works.size();
  std::exception_ptr first;
  for (auto& work : works) {
    asio::co_spawn(io_, std::move(work), [&](std::exception_ptr failure) {
      --left;
      if (failure && !first) first = failure;
    });
  }
  io_.restart();
  while (left > 0 && io_.run_one() > 0) {
  }
  if (first) std::rethrow_exception(first);
}

void warm_place::run(task<void> work) {
  std::vector<task<void>> works;
  works.push_back(std::move(work));
  run(std::move(works));
}

warm_place& shared_warm_place() {
  static warm_place place;
  return place;
}

}  // namespace berth::bench
