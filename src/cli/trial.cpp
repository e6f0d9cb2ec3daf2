#include "cli/trial.hpp"

#include <chrono>
#include <utility>

namespace berth::cli {
namespace {

using clock = std::chrono::steady_clock;

double millis_since(clock::time_point began) {
  return std::chrono::duration<double, std::milli>(clock::now() - began).count();
}

}  // namespace

task<std::shared_ptr<trial>> try_place(context place, command what) {
  auto made = std::make_shared<trial>();
  const auto began = clock::now();
  const handle here = co_await place.spawn();
  made->first = co_await place.exec(here, what);
  made->opening_ms = millis_since(began);
  const auto again = clock::now();
  made->second = co_await place.exec(here, what);
  made->warm_ms = millis_since(again);
  co_await place.destroy(here);
  co_return made;
}

}  // namespace berth::cli
